// SPDX-License-Identifier: GPL-2.0

//! Attributes of queue pairs: what is to change, and what there is.

use super::{
    ah::AddressAttributes,
    mr::Access,
    ops::no_udata,
    qp::{
        Qp,
        QpCaps,
        QpType, //
    },
    Mtu,
    Verbs, //
};
use crate::bindings;
use kernel::{
    error::{
        code::EOPNOTSUPP,
        from_result, //
    },
    prelude::*, //
};

/// A queue pair's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum QpState {
    /// As made.
    Reset = bindings::ib_qp_state_IB_QPS_RESET,
    /// Receives may be posted.
    Init = bindings::ib_qp_state_IB_QPS_INIT,
    /// Ready to receive.
    Rtr = bindings::ib_qp_state_IB_QPS_RTR,
    /// Ready to send.
    Rts = bindings::ib_qp_state_IB_QPS_RTS,
    /// The send queue is drained, or being drained.
    Sqd = bindings::ib_qp_state_IB_QPS_SQD,
    /// The send queue failed.
    Sqe = bindings::ib_qp_state_IB_QPS_SQE,
    /// It failed.
    Error = bindings::ib_qp_state_IB_QPS_ERR,
}

impl QpState {
    fn from_raw(state: bindings::ib_qp_state) -> Result<Self> {
        match state {
            bindings::ib_qp_state_IB_QPS_RESET => Ok(Self::Reset),
            bindings::ib_qp_state_IB_QPS_INIT => Ok(Self::Init),
            bindings::ib_qp_state_IB_QPS_RTR => Ok(Self::Rtr),
            bindings::ib_qp_state_IB_QPS_RTS => Ok(Self::Rts),
            bindings::ib_qp_state_IB_QPS_SQD => Ok(Self::Sqd),
            bindings::ib_qp_state_IB_QPS_SQE => Ok(Self::Sqe),
            bindings::ib_qp_state_IB_QPS_ERR => Ok(Self::Error),
            _ => Err(EINVAL),
        }
    }
}

/// What a queue pair's user wants to change. An attribute is there if the user wants it changed.
pub struct QpChange<'a> {
    attr: &'a bindings::ib_qp_attr,
    mask: bindings::ib_qp_attr_mask,
    state: Option<QpState>,
    current_state: Option<QpState>,
    path_mtu: Option<Mtu>,
    address: Option<AddressAttributes>,
}

/// An accessor for each of the attributes that any value may be in.
macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident: $ty:ty = $bit:ident, $attr:ident => $value:expr;)*) => {
        $(
            $(#[$doc])*
            pub fn $name(&self) -> Option<$ty> {
                let $attr = self.attr;
                self.has(bindings::$bit).then(|| $value)
            }
        )*
    };
}

impl<'a> QpChange<'a> {
    /// # Errors
    ///
    /// `EINVAL` if a value makes no sense, `EOPNOTSUPP` for attributes that are in no standard.
    fn new(attr: &'a bindings::ib_qp_attr, mask: bindings::ib_qp_attr_mask) -> Result<Self> {
        if mask & !bindings::ib_qp_attr_mask_IB_QP_ATTR_STANDARD_BITS != 0 {
            return Err(EOPNOTSUPP);
        }
        let mut this = Self {
            attr,
            mask,
            state: None,
            current_state: None,
            path_mtu: None,
            address: None,
        };
        if this.has(bindings::ib_qp_attr_mask_IB_QP_STATE) {
            this.state = Some(QpState::from_raw(attr.qp_state)?);
        }
        if this.has(bindings::ib_qp_attr_mask_IB_QP_CUR_STATE) {
            this.current_state = Some(QpState::from_raw(attr.cur_qp_state)?);
        }
        if this.has(bindings::ib_qp_attr_mask_IB_QP_PATH_MTU) {
            this.path_mtu = Some(Mtu::from_raw(attr.path_mtu).ok_or(EINVAL)?);
        }
        if this.has(bindings::ib_qp_attr_mask_IB_QP_AV) {
            this.address = Some(AddressAttributes::from_raw(&attr.ah_attr)?);
        }
        Ok(this)
    }

    fn has(&self, bit: bindings::ib_qp_attr_mask) -> bool {
        self.mask & bit != 0
    }

    /// Whether the attributes that are there are those which a step from `current` to `next` must
    /// and may have.
    pub fn fits(&self, current: QpState, next: QpState, qp_type: QpType) -> bool {
        // SAFETY: A look at a table.
        unsafe {
            bindings::ib_modify_qp_is_ok(current as u32, next as u32, qp_type as u32, self.mask)
        }
    }

    /// The state that it is to go to.
    pub fn state(&self) -> Option<QpState> {
        self.state
    }

    /// The state that the user believes it to be in.
    pub fn current_state(&self) -> Option<QpState> {
        self.current_state
    }

    /// The most payload of a packet.
    pub fn path_mtu(&self) -> Option<Mtu> {
        self.path_mtu
    }

    /// The way to the peer.
    pub fn address(&self) -> Option<&AddressAttributes> {
        self.address.as_ref()
    }

    accessors! {
        /// The peer's queue pair; 24 bits count.
        dest_qp: u32 = ib_qp_attr_mask_IB_QP_DEST_QPN, a => a.dest_qp_num;
        /// The first packet's sequence number that is expected; ib_core has cut it to 24 bits.
        rq_psn: u32 = ib_qp_attr_mask_IB_QP_RQ_PSN, a => a.rq_psn;
        /// The sequence number of the first packet to send; ib_core has cut it to 24 bits.
        sq_psn: u32 = ib_qp_attr_mask_IB_QP_SQ_PSN, a => a.sq_psn;
        /// What the peer may do; flags that are not known are left out.
        access: Access = ib_qp_attr_mask_IB_QP_ACCESS_FLAGS,
            a => Access::from_bits_truncate(a.qp_access_flags);
        /// The Q_Key of datagrams.
        qkey: u32 = ib_qp_attr_mask_IB_QP_QKEY, a => a.qkey;
        /// Where its partition is in the table.
        pkey_index: u16 = ib_qp_attr_mask_IB_QP_PKEY_INDEX, a => a.pkey_index;
        /// Its port.
        port: u32 = ib_qp_attr_mask_IB_QP_PORT, a => a.port_num;
        /// How long to wait for an acknowledgement: 4.096 µs times 2 to this, 0 for ever.
        timeout: u8 = ib_qp_attr_mask_IB_QP_TIMEOUT, a => a.timeout;
        /// How often to try again where nothing comes.
        retry_cnt: u8 = ib_qp_attr_mask_IB_QP_RETRY_CNT, a => a.retry_cnt;
        /// How often to try again where the peer is not ready; 7 for ever.
        rnr_retry: u8 = ib_qp_attr_mask_IB_QP_RNR_RETRY, a => a.rnr_retry;
        /// How long the peer waits where we are not ready, as the wire has it.
        min_rnr_timer: u8 = ib_qp_attr_mask_IB_QP_MIN_RNR_TIMER, a => a.min_rnr_timer;
        /// Reads and atomics that we may have under way.
        max_rd_atomic: u8 = ib_qp_attr_mask_IB_QP_MAX_QP_RD_ATOMIC, a => a.max_rd_atomic;
        /// Reads and atomics that the peer may have under way.
        max_dest_rd_atomic: u8 = ib_qp_attr_mask_IB_QP_MAX_DEST_RD_ATOMIC,
            a => a.max_dest_rd_atomic;
        /// Whether to raise an event once the send queue is drained.
        notify_drained: bool = ib_qp_attr_mask_IB_QP_EN_SQD_ASYNC_NOTIFY,
            a => a.en_sqd_async_notify != 0;
        /// Room for other than it was made with.
        caps: QpCaps = ib_qp_attr_mask_IB_QP_CAP, a => QpCaps::from_raw(&a.cap);
        /// An alternate path is wanted, which RoCE has not: ib_core has refused it.
        alternate_path: () = ib_qp_attr_mask_IB_QP_ALT_PATH, _a => ();
        /// The state of path migration is to change, which RoCE has not.
        migration: () = ib_qp_attr_mask_IB_QP_PATH_MIG_STATE, _a => ();
    }
}

/// Where the attributes of a queue pair go that its user asks for; what is not set is 0.
pub struct QpAttributesOut<'a> {
    attr: &'a mut bindings::ib_qp_attr,
    init: &'a mut bindings::ib_qp_init_attr,
}

/// A setter for each of the attributes that are set as they are.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($value:ident: $ty:ty) = $field:ident, $raw:expr;)*) => {
        $(
            $(#[$doc])*
            pub fn $name(&mut self, $value: $ty) {
                self.attr.$field = $raw;
            }
        )*
    };
}

impl QpAttributesOut<'_> {
    /// What it has room for.
    pub fn set_caps(&mut self, caps: &QpCaps) {
        caps.write_to(&mut self.attr.cap);
        caps.write_to(&mut self.init.cap);
    }

    /// Whether each send completes visibly.
    pub fn set_all_signalled(&mut self, all: bool) {
        self.init.sq_sig_type = if all {
            bindings::ib_sig_type_IB_SIGNAL_ALL_WR
        } else {
            bindings::ib_sig_type_IB_SIGNAL_REQ_WR
        };
    }

    /// The way to the peer.
    pub fn set_address(&mut self, address: &AddressAttributes) {
        address.write_to(&mut self.attr.ah_attr);
    }

    setters! {
        /// The state that it goes to, or is in.
        set_state(v: QpState) = qp_state, v as u32;
        /// The state that it is in.
        set_current_state(v: QpState) = cur_qp_state, v as u32;
        /// The most payload of a packet.
        set_path_mtu(v: Mtu) = path_mtu, v as u32;
        /// The peer's queue pair.
        set_dest_qp(v: u32) = dest_qp_num, v;
        /// The packet sequence number that is expected.
        set_rq_psn(v: u32) = rq_psn, v;
        /// The next packet sequence number to send.
        set_sq_psn(v: u32) = sq_psn, v;
        /// What the peer may do.
        set_access(v: Access) = qp_access_flags, v.bits();
        /// The Q_Key of datagrams.
        set_qkey(v: u32) = qkey, v;
        /// Where its partition is in the table.
        set_pkey_index(v: u16) = pkey_index, v;
        /// Its port.
        set_port(v: u32) = port_num, v;
        /// As of [`QpChange::timeout`].
        set_timeout(v: u8) = timeout, v;
        /// As of [`QpChange::retry_cnt`].
        set_retry_cnt(v: u8) = retry_cnt, v;
        /// As of [`QpChange::rnr_retry`].
        set_rnr_retry(v: u8) = rnr_retry, v;
        /// As of [`QpChange::min_rnr_timer`].
        set_min_rnr_timer(v: u8) = min_rnr_timer, v;
        /// As of [`QpChange::max_rd_atomic`].
        set_max_rd_atomic(v: u8) = max_rd_atomic, v;
        /// As of [`QpChange::max_dest_rd_atomic`].
        set_max_dest_rd_atomic(v: u8) = max_dest_rd_atomic, v;
        /// Whether the send queue is still being drained.
        set_draining(v: bool) = sq_draining, v.into();
    }
}

/// `ib_device_ops.modify_qp`.
pub(super) unsafe extern "C" fn modify_qp<T: Verbs>(
    qp: *mut bindings::ib_qp,
    attr: *mut bindings::ib_qp_attr,
    mask: c_int,
    udata: *mut bindings::ib_udata,
) -> c_int {
    from_result(|| {
        // SAFETY: From ib_core, as an argument of this operation.
        unsafe { no_udata(udata)? };
        // SAFETY: ib_core passes the attributes, which nobody changes meanwhile.
        let change = QpChange::new(unsafe { &*attr }, mask as u32)?;
        // SAFETY: Created by `create_qp`; not destroyed during an operation on it.
        T::modify_qp(unsafe { Qp::<T::Qp>::data(qp) }, &change)?;
        Ok(0)
    })
}

/// `ib_device_ops.query_qp`.
pub(super) unsafe extern "C" fn query_qp<T: Verbs>(
    qp: *mut bindings::ib_qp,
    attr: *mut bindings::ib_qp_attr,
    _mask: c_int,
    init: *mut bindings::ib_qp_init_attr,
) -> c_int {
    from_result(|| {
        // SAFETY: ib_core passes a struct for us to fill, with anything in it.
        unsafe { attr.write(bindings::ib_qp_attr::default()) };
        // SAFETY: As above; the pair is valid, and these do not change after its creation.
        unsafe {
            init.write(bindings::ib_qp_init_attr {
                event_handler: (*qp).event_handler,
                qp_context: (*qp).qp_context,
                send_cq: (*qp).send_cq,
                recv_cq: (*qp).recv_cq,
                srq: (*qp).srq,
                qp_type: (*qp).qp_type,
                ..Default::default()
            })
        };
        // SAFETY: Written above; ours during the operation.
        let (attr, init) = unsafe { (&mut *attr, &mut *init) };
        // SAFETY: Created by `create_qp`; not destroyed during an operation on it.
        let data = unsafe { Qp::<T::Qp>::data(qp) };
        T::query_qp(data, &mut QpAttributesOut { attr, init })?;
        Ok(0)
    })
}
