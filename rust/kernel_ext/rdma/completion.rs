// SPDX-License-Identifier: GPL-2.0

//! Completions for the kernel's users: `struct ib_wc`.

use super::{
    cq::Cq,
    Network,
    Verbs, //
};
use crate::bindings;
use core::{
    mem::MaybeUninit,
    ptr::NonNull,
    slice, //
};
use kernel::{
    error::from_result,
    prelude::*, //
};

/// Names a queue pair in completions. It is no access to the pair.
///
/// The pair's user follows it in what [`Completions`] hands out: the driver gives out none from the
/// moment on that its `destroy_qp` has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpReference(NonNull<bindings::ib_qp>);

// SAFETY: It is a number as long as nobody follows it, which is for the pair's user.
unsafe impl Send for QpReference {}
// SAFETY: As above.
unsafe impl Sync for QpReference {}

impl QpReference {
    pub(super) fn new(qp: NonNull<bindings::ib_qp>) -> Self {
        Self(qp)
    }
}

/// What comes with a message, beside its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extra {
    /// Nothing.
    #[default]
    None,
    /// Immediate data, as it came.
    Immediate([u8; 4]),
    /// The key that was invalidated.
    Invalidated(u32),
}

/// Where a datagram came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramSource {
    /// The header that is in the 40 bytes before the data.
    pub network: Network,
    /// The VLAN that it came by.
    pub vlan: Option<u16>,
    /// The link-layer address of who sent it, if there is one.
    pub mac: Option<[u8; 6]>,
}

/// A completion.
#[derive(Clone, Copy, Debug)]
pub struct WorkCompletion {
    /// What the user called the request.
    pub wr_id: u64,
    /// `enum ib_wc_status`.
    pub status: u32,
    /// `enum ib_wc_opcode`; counts if all went well.
    pub opcode: u32,
    /// Bytes of data.
    pub byte_len: u32,
    /// What came with it.
    pub extra: Extra,
    /// The queue pair of the request.
    pub qp: QpReference,
    /// The queue pair that sent.
    pub source_qp: u32,
    /// Of a datagram that came: its source.
    pub source: Option<DatagramSource>,
}

impl WorkCompletion {
    fn to_raw(self) -> bindings::ib_wc {
        let mut wc = bindings::ib_wc {
            __bindgen_anon_1: bindings::ib_wc__bindgen_ty_1 { wr_id: self.wr_id },
            status: self.status,
            opcode: self.opcode,
            byte_len: self.byte_len,
            qp: self.qp.0.as_ptr(),
            src_qp: self.source_qp,
            port_num: 1,
            ..Default::default()
        };
        let mut flags = 0;
        match self.extra {
            Extra::None => {}
            Extra::Immediate(bytes) => {
                flags |= bindings::ib_wc_flags_IB_WC_WITH_IMM;
                wc.ex.imm_data = u32::from_ne_bytes(bytes);
            }
            Extra::Invalidated(rkey) => {
                flags |= bindings::ib_wc_flags_IB_WC_WITH_INVALIDATE;
                wc.ex.invalidate_rkey = rkey;
            }
        }
        if let Some(source) = self.source {
            flags |=
                bindings::ib_wc_flags_IB_WC_GRH | bindings::ib_wc_flags_IB_WC_WITH_NETWORK_HDR_TYPE;
            wc.network_hdr_type = match source.network {
                Network::V4 => bindings::rdma_network_type_RDMA_NETWORK_IPV4,
                Network::V6 => bindings::rdma_network_type_RDMA_NETWORK_IPV6,
            } as u8;
            if let Some(vlan) = source.vlan {
                flags |= bindings::ib_wc_flags_IB_WC_WITH_VLAN;
                wc.vlan_id = vlan;
            }
            if let Some(mac) = source.mac {
                flags |= bindings::ib_wc_flags_IB_WC_WITH_SMAC;
                wc.smac = mac;
            }
        }
        wc.wc_flags = flags as c_int;
        wc
    }
}

/// Room for completions.
pub struct Completions<'a> {
    room: &'a mut [MaybeUninit<bindings::ib_wc>],
    used: usize,
}

impl Completions<'_> {
    /// Whether all of the room is used.
    pub fn is_full(&self) -> bool {
        self.used >= self.room.len()
    }

    /// Adds one; it is lost if there is no room.
    pub fn push(&mut self, completion: &WorkCompletion) {
        if let Some(place) = self.room.get_mut(self.used) {
            place.write(completion.to_raw());
            self.used = self.used.wrapping_add(1);
        }
    }
}

/// `ib_device_ops.poll_cq`.
pub(super) unsafe extern "C" fn poll_cq<T: Verbs>(
    cq: *mut bindings::ib_cq,
    count: c_int,
    wc: *mut bindings::ib_wc,
) -> c_int {
    from_result(|| {
        let count = usize::try_from(count).map_err(|_| EINVAL)?;
        if count == 0 {
            return Ok(0);
        }
        // SAFETY: Created by `create_cq`; not destroyed during an operation on it.
        let data = unsafe { Cq::<T::Cq>::data(cq) };
        let mut to = Completions {
            // SAFETY: ib_core passes room for so many, with anything in it.
            room: unsafe { slice::from_raw_parts_mut(wc.cast(), count) },
            used: 0,
        };
        T::poll_cq(data, &mut to)?;
        // Not more than `count`.
        Ok(to.used as c_int)
    })
}
