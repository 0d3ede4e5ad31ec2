// SPDX-License-Identifier: GPL-2.0

//! What both halves of an engine look at: its fixed configuration, attributes and state.

use super::{
    attributes::{
        Attributes,
        Change,
        Config, //
    },
    ports::{
        Env,
        Observation, //
    },
    state::{
        self,
        AttributeMask,
        ModifyError,
        QpType,
        State, //
    },
};
use crate::{
    types::{
        Mtu,
        Psn, //
    },
    wire::packet::{
        Addressing,
        Op,
        Packet,
        Service, //
    },
};

pub(super) struct Context {
    pub(super) config: Config,
    pub(super) attributes: Attributes,
    pub(super) state: State,
}

impl Context {
    pub(super) fn new(config: Config) -> Self {
        let mut context = Self {
            config,
            attributes: Attributes::default(),
            state: State::Reset,
        };
        context.forget();
        context
    }

    /// The port's MTU is what a datagram may have.
    pub(super) fn set_port_mtu(&mut self, mtu: Mtu) {
        self.config.port_mtu = mtu;
        if self.config.qp_type.is_datagram() {
            self.attributes.path_mtu = mtu;
        }
    }

    /// Whether a packet is for this queue pair as it is now.
    #[inline]
    pub(super) fn accepts<E: Env>(&self, packet: &Packet, env: &mut E) -> bool {
        let fits = packet.service == self.service() || matches!(packet.op, Op::Cnp);
        if !fits || !self.state.receives() {
            self.observe(env, Observation::Unexpected);
            return false;
        }
        if !packet.pkey.admits(self.attributes.pkey) {
            self.observe(env, Observation::BadPkey);
            return false;
        }
        true
    }

    /// Whether a change is allowed: the states it leads from and to. `depth` is how many READs and
    /// atomics the responder can keep.
    pub(super) fn check(&self, change: &Change, depth: u32) -> Result<(State, State), ModifyError> {
        let mask = change.mask;
        let from = self.state;
        let to = change.state.unwrap_or(from);
        if mask.contains(AttributeMask::CURRENT_STATE) && change.current != Some(from) {
            return Err(ModifyError::CurrentState);
        }
        state::check(self.config.qp_type, from, to, mask)?;
        let values = &change.attributes;
        let ranges = [
            (AttributeMask::TIMEOUT, values.timeout <= 31),
            (AttributeMask::RETRY_CNT, values.retry_cnt <= 7),
            (AttributeMask::RNR_RETRY, values.rnr_retry <= 7),
            (AttributeMask::MIN_RNR_TIMER, values.min_rnr_timer <= 31),
            (
                AttributeMask::MAX_DEST_RD_ATOMIC,
                u32::from(values.max_dest_rd_atomic) <= depth,
            ),
        ];
        for (attribute, is_right) in ranges {
            if mask.contains(attribute) && !is_right {
                return Err(ModifyError::Value(attribute));
            }
        }
        Ok((from, to))
    }

    /// Takes over what the mask names.
    pub(super) fn apply(&mut self, change: &Change) {
        let (mine, values) = (&mut self.attributes, &change.attributes);
        let has = |attribute| change.mask.contains(attribute);
        if has(AttributeMask::ACCESS) {
            mine.access = values.access;
        }
        if has(AttributeMask::PKEY) {
            mine.pkey = values.pkey;
        }
        if has(AttributeMask::PATH_MTU) {
            mine.path_mtu = values.path_mtu;
        }
        if has(AttributeMask::DEST_QP) {
            mine.dest_qp = values.dest_qp;
        }
        if has(AttributeMask::RQ_PSN) {
            mine.rq_psn = values.rq_psn;
        }
        if has(AttributeMask::SQ_PSN) {
            mine.sq_psn = values.sq_psn;
        }
        if has(AttributeMask::MAX_RD_ATOMIC) {
            mine.max_rd_atomic = values.max_rd_atomic;
        }
        if has(AttributeMask::MAX_DEST_RD_ATOMIC) {
            mine.max_dest_rd_atomic = values.max_dest_rd_atomic;
        }
        if has(AttributeMask::MIN_RNR_TIMER) {
            mine.min_rnr_timer = values.min_rnr_timer;
        }
        if has(AttributeMask::TIMEOUT) {
            mine.timeout = values.timeout;
        }
        if has(AttributeMask::RETRY_CNT) {
            mine.retry_cnt = values.retry_cnt;
        }
        if has(AttributeMask::RNR_RETRY) {
            mine.rnr_retry = values.rnr_retry;
        }
        if has(AttributeMask::QKEY) {
            mine.qkey = values.qkey;
        }
        if change.state == Some(State::Sqd) && self.state != State::Sqd {
            mine.sq_drained_event = has(AttributeMask::SQ_DRAINED_EVENT) && values.sq_drained_event;
        }
    }

    /// Back to no attributes (to RESET).
    pub(super) fn forget(&mut self) {
        self.attributes = Attributes::default();
        self.set_port_mtu(self.config.port_mtu);
    }

    /// The service of all packets, both ways.
    #[inline]
    pub(super) const fn service(&self) -> Service {
        match self.config.qp_type {
            QpType::Rc => Service::Rc,
            QpType::Uc => Service::Uc,
            QpType::Ud | QpType::Gsi => Service::Ud,
            QpType::XrcIni | QpType::XrcTgt => Service::Xrc,
        }
    }

    /// A packet to the connection's peer.
    #[inline]
    pub(super) fn packet(&self, op: Op, psn: Psn, data_bytes: u32) -> Packet {
        Packet {
            service: self.service(),
            op,
            addressing: Addressing::Connected,
            dest_qp: self.attributes.dest_qp,
            psn,
            pkey: self.attributes.pkey,
            ack_req: false,
            solicited: false,
            mig_req: self.config.migrated,
            fecn: false,
            becn: false,
            data_bytes,
        }
    }

    #[inline]
    pub(super) fn observe<E: Env>(&self, env: &mut E, what: Observation) {
        env.observe(self.config.qpn, what);
    }
}
