// SPDX-License-Identifier: GPL-2.0

//! Modify and query: from verbs to the engine and back.

use super::{
    env::Port,
    flow::clock,
    Inner,
    Qp, //
};
use crate::{
    ah::Path,
    limits, //
};
use kernel::{
    prelude::*,
    sync::{
        Arc,
        ArcBorrow, //
    }, //
};
use kernel_ext::rdma::{
    Access as VerbsAccess,
    Mtu as VerbsMtu,
    QpAttributesOut,
    QpChange,
    QpState, //
};
use oxe_proto::{
    transport::{
        attributes::{
            Access,
            Attributes,
            Change, //
        },
        state::{
            AttributeMask,
            State, //
        }, //
    },
    types::{
        Instant,
        Mtu,
        Pkey,
        Psn,
        Qkey,
        Qpn, //
    }, //
};

const fn to_state(state: QpState) -> State {
    match state {
        QpState::Reset => State::Reset,
        QpState::Init => State::Init,
        QpState::Rtr => State::Rtr,
        QpState::Rts => State::Rts,
        QpState::Sqd => State::Sqd,
        QpState::Sqe => State::Sqe,
        QpState::Error => State::Err,
    }
}

const fn from_state(state: State) -> QpState {
    match state {
        State::Reset => QpState::Reset,
        State::Init => QpState::Init,
        State::Rtr => QpState::Rtr,
        State::Rts => QpState::Rts,
        State::Sqd => QpState::Sqd,
        State::Sqe => QpState::Sqe,
        State::Err => QpState::Error,
    }
}

const fn to_access(access: VerbsAccess) -> Access {
    Access {
        remote_write: access.remote_write,
        remote_read: access.remote_read,
        remote_atomic: access.remote_atomic,
        flush_global: access.flush_global,
        flush_persistent: access.flush_persistent,
    }
}

fn from_access(access: Access) -> VerbsAccess {
    VerbsAccess {
        remote_write: access.remote_write,
        remote_read: access.remote_read,
        remote_atomic: access.remote_atomic,
        flush_global: access.flush_global,
        flush_persistent: access.flush_persistent,
        ..VerbsAccess::default()
    }
}

/// The path MTU of a code that verbs know.
pub(crate) fn to_mtu(mtu: VerbsMtu) -> Option<Mtu> {
    Mtu::from_code(mtu as u32)
}

const fn from_mtu(mtu: Mtu) -> VerbsMtu {
    match mtu {
        Mtu::B256 => VerbsMtu::B256,
        Mtu::B512 => VerbsMtu::B512,
        Mtu::B1024 => VerbsMtu::B1024,
        Mtu::B2048 => VerbsMtu::B2048,
        Mtu::B4096 => VerbsMtu::B4096,
    }
}

/// What a process asks for, as the engine takes it.
fn to_change(asked: &QpChange<'_>) -> Result<Change> {
    let mut change = Change {
        state: asked.state().map(to_state),
        current: asked.current_state().map(to_state),
        ..Change::default()
    };
    let mut mask = AttributeMask::NONE;
    let to: &mut Attributes = &mut change.attributes;
    let mut set = |bit: AttributeMask| mask = mask.with(bit);
    if change.current.is_some() {
        set(AttributeMask::CURRENT_STATE);
    }
    if let Some(access) = asked.access() {
        set(AttributeMask::ACCESS);
        to.access = to_access(access);
    }
    if let Some(index) = asked.pkey_index() {
        if index != 0 {
            return Err(EINVAL);
        }
        set(AttributeMask::PKEY);
        to.pkey = Pkey::DEFAULT_FULL;
    }
    if let Some(port) = asked.port() {
        if port != 1 {
            return Err(EINVAL);
        }
        set(AttributeMask::PORT);
    }
    if let Some(qkey) = asked.qkey() {
        set(AttributeMask::QKEY);
        to.qkey = Qkey(qkey);
    }
    if asked.address().is_some() {
        set(AttributeMask::ADDRESS);
    }
    if let Some(mtu) = asked.path_mtu() {
        set(AttributeMask::PATH_MTU);
        to.path_mtu = to_mtu(mtu).ok_or(EINVAL)?;
    }
    if let Some(qpn) = asked.dest_qp() {
        set(AttributeMask::DEST_QP);
        to.dest_qp = Qpn::from_low_bits(qpn);
    }
    if let Some(psn) = asked.rq_psn() {
        set(AttributeMask::RQ_PSN);
        to.rq_psn = Psn::from_low_bits(psn);
    }
    if let Some(psn) = asked.sq_psn() {
        set(AttributeMask::SQ_PSN);
        to.sq_psn = Psn::from_low_bits(psn);
    }
    for (value, bit, place) in [
        (asked.timeout(), AttributeMask::TIMEOUT, &mut to.timeout),
        (
            asked.retry_cnt(),
            AttributeMask::RETRY_CNT,
            &mut to.retry_cnt,
        ),
        (
            asked.rnr_retry(),
            AttributeMask::RNR_RETRY,
            &mut to.rnr_retry,
        ),
        (
            asked.min_rnr_timer(),
            AttributeMask::MIN_RNR_TIMER,
            &mut to.min_rnr_timer,
        ),
        (
            asked.max_rd_atomic(),
            AttributeMask::MAX_RD_ATOMIC,
            &mut to.max_rd_atomic,
        ),
        (
            asked.max_dest_rd_atomic(),
            AttributeMask::MAX_DEST_RD_ATOMIC,
            &mut to.max_dest_rd_atomic,
        ),
    ] {
        if let Some(value) = value {
            set(bit);
            *place = value;
        }
    }
    if let Some(wanted) = asked.notify_drained() {
        set(AttributeMask::SQ_DRAINED_EVENT);
        to.sq_drained_event = wanted;
    }
    if asked.caps().is_some() {
        // The queues are as they were made.
        return Err(EINVAL);
    }
    // There is one path, and its state is what it always was.
    if asked.alternate_path().is_some() {
        set(AttributeMask::ALT_PATH);
    }
    if asked.migration().is_some() {
        set(AttributeMask::PATH_MIG_STATE);
    }
    change.mask = mask;
    Ok(change)
}

impl Inner {
    fn modify(&mut self, now: Instant, change: &Change) -> Result {
        let mut port = Port {
            side: &mut self.side,
            packet: None,
        };
        self.engine
            .modify(now, change, &mut port)
            .map_err(|_| EINVAL)
    }
}

impl Qp {
    /// Changes all that is asked for, or nothing. Context: process.
    pub(crate) fn modify(this: ArcBorrow<'_, Self>, asked: &QpChange<'_>) -> Result {
        let change = to_change(asked)?;
        // Those of the peer are bounded by the engine's memory for them.
        if change.attributes.max_rd_atomic > limits::MAX_RD_ATOMIC {
            return Err(EINVAL);
        }
        // What does not fit through the port would be lost for ever.
        if change.mask.contains(AttributeMask::PATH_MTU)
            && change.attributes.path_mtu > this.link.active_mtu()
        {
            return Err(EINVAL);
        }
        let path = match asked.address() {
            None => None,
            Some(address) => {
                let remote = match asked.dest_qp() {
                    Some(qpn) => Qpn::from_low_bits(qpn),
                    None => this.inner.lock().engine.attributes().dest_qp,
                };
                let path = Path::new(&this.link, *address, this.qpn, remote);
                Some(Arc::new(path, GFP_KERNEL_ACCOUNT)?)
            }
        };
        let mut inner = this.inner.lock();
        inner.modify(clock(), &change)?;
        let mut old = None;
        if path.is_some() {
            old = core::mem::replace(&mut inner.side.path, path);
        }
        if change.state == Some(State::Reset) {
            inner.side.forget();
        }
        if let Some(kernel) = &this.kernel {
            kernel.enter(inner.engine.state());
            if let (Some(State::Reset), Some(reference)) = (change.state, this.created.reference) {
                // Their requests may go with the state.
                this.send_cq.forget(reference);
                this.recv_cq.forget(reference);
            }
        }
        let mut more = inner.take_posts();
        more |= inner.flow(clock());
        Self::arm(this, &inner);
        let mut notices = inner.side.notices.take();
        drop(inner);
        drop(old);
        if more {
            notices.more();
        }
        Self::tell_later(this, notices);
        Ok(())
    }

    /// Says what its attributes are.
    pub(crate) fn query(&self, out: &mut QpAttributesOut<'_>) {
        let inner = self.inner.lock();
        let state = from_state(inner.engine.state());
        let attributes = *inner.engine.attributes();
        let address = inner.side.path.as_ref().map(|path| path.address);
        drop(inner);
        out.set_state(state);
        out.set_current_state(state);
        out.set_caps(&self.created.caps);
        out.set_all_signalled(self.created.queue.all_signalled);
        out.set_path_mtu(from_mtu(attributes.path_mtu));
        out.set_dest_qp(attributes.dest_qp.get());
        out.set_rq_psn(attributes.rq_psn.get());
        out.set_sq_psn(attributes.sq_psn.get());
        out.set_access(from_access(attributes.access));
        out.set_qkey(attributes.qkey.0);
        out.set_port(1);
        out.set_timeout(attributes.timeout);
        out.set_retry_cnt(attributes.retry_cnt);
        out.set_rnr_retry(attributes.rnr_retry);
        out.set_min_rnr_timer(attributes.min_rnr_timer);
        out.set_max_rd_atomic(attributes.max_rd_atomic);
        out.set_max_dest_rd_atomic(attributes.max_dest_rd_atomic);
        if let Some(address) = address {
            out.set_address(&address);
        }
    }
}
