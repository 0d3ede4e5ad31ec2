// SPDX-License-Identifier: GPL-2.0

//! Acknowledgement extended transport header (AETH).

use crate::types::Msn;

/// Why a responder refuses a request (NAK).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NakCode {
    /// Packets before this one are missing.
    SequenceError,
    /// The request makes no sense.
    InvalidRequest,
    /// The key, range or right does not allow it.
    RemoteAccess,
    /// The responder could not do it.
    RemoteOperational,
    /// Of reliable datagrams only.
    InvalidRdRequest,
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syndrome {
    /// Positive, with the code of the receiver's credits, 0 to 31.
    Ack(u8),
    /// Receiver not ready: try again after the time of this code, 0 to 31.
    RnrNak(u8),
    /// Refused.
    Nak(NakCode),
    /// A value without a meaning; the whole byte.
    Reserved(u8),
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// What it says.
    pub syndrome: Syndrome,
    /// How many messages the responder has finished.
    pub msn: Msn,
}
