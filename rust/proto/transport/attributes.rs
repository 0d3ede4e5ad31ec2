// SPDX-License-Identifier: GPL-2.0

//! What a queue pair is told: at its creation, and by modify.

use super::{
    state::{
        AttributeMask,
        QpType,
        State, //
    },
    EARLY_SLOTS, //
};
use crate::types::{
    Mtu,
    Pkey,
    Psn,
    Qkey,
    Qpn,
    Span, //
};

/// What the peer may do with this queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// WRITE, and ATOMIC WRITE.
    pub remote_write: bool,
    /// READ.
    pub remote_read: bool,
    /// Atomics.
    pub remote_atomic: bool,
    /// FLUSH to global visibility.
    pub flush_global: bool,
    /// FLUSH to persistence.
    pub flush_persistent: bool,
}

impl Access {
    /// Everything.
    pub const ALL: Self = Self {
        remote_write: true,
        remote_read: true,
        remote_atomic: true,
        flush_global: true,
        flush_persistent: true,
    };
}

/// What is fixed when a queue pair is created.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Transport service and role.
    pub qp_type: QpType,
    /// Its number.
    pub qpn: Qpn,
    /// The port's MTU, which bounds datagrams; it may change (`set_port_mtu`).
    pub port_mtu: Mtu,
    /// Receives from a shared receive queue.
    pub shared_receive: bool,
    /// Request packets that may be unacknowledged at a time; 1 to 65536.
    pub window: u32,
    /// Packets ahead of a missing one that the driver keeps for the engine: 0 to [`EARLY_SLOTS`].
    /// 0 is plain go-back-N.
    pub early_limit: u32,
    /// The shortest time after which a lack of answers is probed.
    pub min_probe: Span,
    /// What packets say of path migration: that the queue pair is on its migrated, that is its only
    /// path. Hardware says so unless a migration is being set up, and some insist on it.
    pub migrated: bool,
}

impl Config {
    /// Whether the numbers are in their ranges.
    pub(super) fn is_valid(&self) -> bool {
        (1..=65536).contains(&self.window) && self.early_limit <= EARLY_SLOTS
    }

    /// The usual values for a queue pair.
    pub const fn new(qp_type: QpType, qpn: Qpn) -> Self {
        Self {
            qp_type,
            qpn,
            port_mtu: Mtu::B4096,
            shared_receive: false,
            window: 128,
            early_limit: 256,
            min_probe: Span::from_micros(100),
            migrated: true,
        }
    }
}

/// The attributes that modify sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// What the peer may do.
    pub access: Access,
    /// Partition key.
    pub pkey: Pkey,
    /// Path MTU.
    pub path_mtu: Mtu,
    /// The connection's other end.
    pub dest_qp: Qpn,
    /// The first number that the peer sends.
    pub rq_psn: Psn,
    /// The first number to send.
    pub sq_psn: Psn,
    /// READs and atomics outstanding as requester (initiator depth).
    pub max_rd_atomic: u8,
    /// READs and atomics kept as responder (responder resources).
    pub max_dest_rd_atomic: u8,
    /// Code of the time that the peer waits when there is no receive request; 0 to 31.
    pub min_rnr_timer: u8,
    /// Code of the acknowledgement timeout, 4.096 µs * 2^n; 0 is none; 0 to 31.
    pub timeout: u8,
    /// Retries after timeouts and sequence errors; 0 to 7.
    pub retry_cnt: u8,
    /// Retries after receiver-not-ready answers; 0 to 6, 7 for ever.
    pub rnr_retry: u8,
    /// Queue key of a datagram queue pair.
    pub qkey: Qkey,
    /// Wants [`super::Event::SendQueueDrained`].
    pub sq_drained_event: bool,
}

/// What one modify changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// The new state, if it shall change; also the same state again.
    pub state: Option<State>,
    /// The state that the caller takes the queue pair to be in; looked at if the mask says so.
    pub current: Option<State>,
    /// Which of the attributes to take over.
    pub mask: AttributeMask,
    /// Their values.
    pub attributes: Attributes,
}
