// SPDX-License-Identifier: GPL-2.0

//! Work requests of the kernel's users: `struct ib_send_wr`, `struct ib_recv_wr`.

use super::{
    object::Object,
    qp::Qp,
    Verbs, //
};
use crate::bindings;
use core::{
    marker::PhantomData,
    ptr::NonNull,
    slice, //
};
use kernel::{
    error::{
        code::EOPNOTSUPP,
        from_result,
        to_result, //
    },
    prelude::*, //
};

/// A piece of memory of a work request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its address, as the key's region counts.
    pub address: u64,
    /// Bytes.
    pub length: u32,
    /// The key.
    pub lkey: u32,
}

/// The list of a work request.
#[derive(Clone, Copy)]
pub struct Pieces<'a>(&'a [bindings::ib_sge]);

impl<'a> Pieces<'a> {
    /// # Safety
    ///
    /// `count` elements must be valid at `list` for `'a`, if there are any.
    unsafe fn new(list: *const bindings::ib_sge, count: c_int) -> Result<Self> {
        let count = usize::try_from(count).map_err(|_| EINVAL)?;
        if count == 0 {
            return Ok(Self(&[]));
        }
        if list.is_null() {
            return Err(EINVAL);
        }
        // SAFETY: By the contract.
        Ok(Self(unsafe { slice::from_raw_parts(list, count) }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Piece> + 'a {
        self.0.iter().map(|sge| Piece {
            address: sge.addr,
            length: sge.length,
            lkey: sge.lkey,
        })
    }
}

/// What a send request asks for.
pub enum Operation<'a, T: Verbs> {
    /// SEND.
    Send {
        /// Immediate data, as it goes out.
        immediate: Option<[u8; 4]>,
    },
    /// SEND that invalidates a key of the peer.
    SendInvalidate {
        /// The key.
        rkey: u32,
    },
    /// SEND of a datagram.
    Datagram {
        /// Where to.
        ah: &'a T::Ah,
        /// To which queue pair; 24 bits count.
        qpn: u32,
        /// Its Q_Key; with the top bit set, that of the sender's queue pair.
        qkey: u32,
        /// Index of the partition key; counts for [`super::QpType::Gsi`] alone.
        pkey_index: u16,
        /// Immediate data, as it goes out.
        immediate: Option<[u8; 4]>,
    },
    /// WRITE.
    Write {
        /// Remote virtual address.
        address: u64,
        /// Remote key.
        rkey: u32,
        /// Immediate data, as it goes out.
        immediate: Option<[u8; 4]>,
    },
    /// READ.
    Read {
        /// Remote virtual address.
        address: u64,
        /// Remote key.
        rkey: u32,
    },
    /// Atomic compare and swap.
    CompareSwap {
        /// Remote virtual address.
        address: u64,
        /// Remote key.
        rkey: u32,
        /// What has to be there.
        compare: u64,
        /// What takes its place.
        swap: u64,
    },
    /// Atomic fetch and add.
    FetchAdd {
        /// Remote virtual address.
        address: u64,
        /// Remote key.
        rkey: u32,
        /// What to add.
        add: u64,
    },
}

/// A send request. It was posted and is not the driver's before the post has succeeded.
pub struct SendRequest<'a, T: Verbs> {
    /// What its user calls it.
    pub wr_id: u64,
    /// What to do.
    pub operation: Operation<'a, T>,
    /// The data, or where it goes.
    pub pieces: Pieces<'a>,
    /// Wants a completion even when all goes well.
    pub signalled: bool,
    /// Wants an interrupt at the receiver.
    pub solicited: bool,
    /// Starts only when earlier READs and atomics are complete.
    pub fence: bool,
    /// The data is to be taken now; keys do not count.
    inline: bool,
}

impl<T: Verbs> SendRequest<'_, T> {
    /// Whether the data is to be taken now, by [`SendRequest::copy_inline`].
    pub fn is_inline(&self) -> bool {
        self.inline
    }

    /// Copies the data of an inline request: all of it, to the beginning of `to`.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EINVAL` if it is no such request or there is no room, `EFAULT`.
    pub fn copy_inline(&self, to: &mut [u8]) -> Result {
        if !self.inline {
            return Err(EINVAL);
        }
        let mut room = to;
        for piece in self.pieces.iter() {
            let length = piece.length as usize;
            let (place, rest) = room.split_at_mut_checked(length).ok_or(EINVAL)?;
            // SAFETY: Who posts an inline request promises that its data is there during the post,
            // where this is (`self` does not outlive it).
            to_result(unsafe {
                bindings::oxe_helper_direct_read(piece.address, place.as_mut_ptr().cast(), length)
            })?;
            room = rest;
        }
        Ok(())
    }
}

/// A chain of send requests, first to last.
///
/// What the driver has taken before it returns an error counts as posted; that which it took last,
/// or the first one, is the one that failed.
///
/// # Invariants
///
/// `next` is null or a request that is valid for `'a`, as is what it leads to. `current` is not
/// null.
pub struct SendRequests<'a, T: Verbs> {
    next: *const bindings::ib_send_wr,
    current: *const bindings::ib_send_wr,
    datagrams: bool,
    _requests: PhantomData<&'a T>,
}

impl<'a, T: Verbs> SendRequests<'a, T> {
    /// # Safety
    ///
    /// `wr` must be a request of a kernel's pair, datagrams or not, and valid for `'a` like all
    /// that it leads to.
    unsafe fn new(wr: NonNull<bindings::ib_send_wr>, datagrams: bool) -> Self {
        // INVARIANT: By the contract.
        Self {
            next: wr.as_ptr(),
            current: wr.as_ptr(),
            datagrams,
            _requests: PhantomData,
        }
    }

    fn parse(&self, wr: &'a bindings::ib_send_wr) -> Result<SendRequest<'a, T>> {
        let flag = |bit: c_int| wr.send_flags & bit != 0;
        Ok(SendRequest {
            // SAFETY: All of the union is a number.
            wr_id: unsafe { wr.__bindgen_anon_1.wr_id },
            operation: self.operation(wr)?,
            // SAFETY: The request and its list are valid for `'a`.
            pieces: unsafe { Pieces::new(wr.sg_list, wr.num_sge)? },
            signalled: flag(bindings::ib_send_flags_IB_SEND_SIGNALED),
            solicited: flag(bindings::ib_send_flags_IB_SEND_SOLICITED),
            fence: flag(bindings::ib_send_flags_IB_SEND_FENCE),
            inline: flag(bindings::ib_send_flags_IB_SEND_INLINE),
        })
    }

    /// # Errors
    ///
    /// `EOPNOTSUPP` for what is not there, registering memory for instance.
    fn operation(&self, wr: &'a bindings::ib_send_wr) -> Result<Operation<'a, T>> {
        // SAFETY: All of the union is a number; its bytes are as they go out.
        let immediate = || Some(unsafe { wr.ex.imm_data.to_ne_bytes() });
        let whole = core::ptr::from_ref(wr);
        // SAFETY: Requests with these operations are part of this struct (see `struct ib_rdma_wr`
        // and `rdma_wr()`).
        let rdma = || unsafe { &*whole.cast::<bindings::ib_rdma_wr>() };
        // SAFETY: As above (`struct ib_atomic_wr` and `atomic_wr()`).
        let atomic = || unsafe { &*whole.cast::<bindings::ib_atomic_wr>() };
        Ok(match wr.opcode {
            bindings::ib_wr_opcode_IB_WR_SEND if self.datagrams => self.datagram(wr, None)?,
            bindings::ib_wr_opcode_IB_WR_SEND_WITH_IMM if self.datagrams => {
                self.datagram(wr, immediate())?
            }
            bindings::ib_wr_opcode_IB_WR_SEND => Operation::Send { immediate: None },
            bindings::ib_wr_opcode_IB_WR_SEND_WITH_IMM => Operation::Send {
                immediate: immediate(),
            },
            bindings::ib_wr_opcode_IB_WR_SEND_WITH_INV => Operation::SendInvalidate {
                // SAFETY: All of the union is a number.
                rkey: unsafe { wr.ex.invalidate_rkey },
            },
            bindings::ib_wr_opcode_IB_WR_RDMA_WRITE => Operation::Write {
                address: rdma().remote_addr,
                rkey: rdma().rkey,
                immediate: None,
            },
            bindings::ib_wr_opcode_IB_WR_RDMA_WRITE_WITH_IMM => Operation::Write {
                address: rdma().remote_addr,
                rkey: rdma().rkey,
                immediate: immediate(),
            },
            bindings::ib_wr_opcode_IB_WR_RDMA_READ => Operation::Read {
                address: rdma().remote_addr,
                rkey: rdma().rkey,
            },
            bindings::ib_wr_opcode_IB_WR_ATOMIC_CMP_AND_SWP => Operation::CompareSwap {
                address: atomic().remote_addr,
                rkey: atomic().rkey,
                compare: atomic().compare_add,
                swap: atomic().swap,
            },
            bindings::ib_wr_opcode_IB_WR_ATOMIC_FETCH_AND_ADD => Operation::FetchAdd {
                address: atomic().remote_addr,
                rkey: atomic().rkey,
                add: atomic().compare_add,
            },
            _ => return Err(EOPNOTSUPP),
        })
    }

    fn datagram(
        &self,
        wr: &'a bindings::ib_send_wr,
        immediate: Option<[u8; 4]>,
    ) -> Result<Operation<'a, T>> {
        // SAFETY: A SEND of a pair for datagrams is part of this struct (see `ud_wr()`).
        let datagram = unsafe { &*core::ptr::from_ref(wr).cast::<bindings::ib_ud_wr>() };
        if datagram.ah.is_null() {
            return Err(EINVAL);
        }
        Ok(Operation::Datagram {
            // SAFETY: Created by `create_ah`, and not destroyed while it is being posted.
            ah: unsafe { Object::<_, T::Ah>::data(datagram.ah) },
            qpn: datagram.remote_qpn,
            qkey: datagram.remote_qkey,
            pkey_index: datagram.pkey_index,
            immediate,
        })
    }
}

impl<'a, T: Verbs> Iterator for SendRequests<'a, T> {
    type Item = Result<SendRequest<'a, T>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next.is_null() {
            return None;
        }
        // INVARIANT: Not null.
        self.current = self.next;
        // SAFETY: Valid by the type invariant.
        let wr = unsafe { &*self.next };
        // INVARIANT: What a valid request leads to.
        self.next = wr.next;
        Some(self.parse(wr))
    }
}

/// A receive request.
pub struct RecvRequest<'a> {
    /// What its user calls it.
    pub wr_id: u64,
    /// Where what comes is put.
    pub pieces: Pieces<'a>,
}

/// A chain of receive requests; as [`SendRequests`].
///
/// # Invariants
///
/// As of [`SendRequests`].
pub struct RecvRequests<'a> {
    next: *const bindings::ib_recv_wr,
    current: *const bindings::ib_recv_wr,
    _requests: PhantomData<&'a bindings::ib_recv_wr>,
}

impl<'a> Iterator for RecvRequests<'a> {
    type Item = Result<RecvRequest<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next.is_null() {
            return None;
        }
        // INVARIANT: Not null.
        self.current = self.next;
        // SAFETY: Valid by the type invariant.
        let wr = unsafe { &*self.next };
        // INVARIANT: What a valid request leads to.
        self.next = wr.next;
        // SAFETY: The request and its list are valid for `'a`.
        let pieces = unsafe { Pieces::new(wr.sg_list, wr.num_sge) };
        Some(pieces.map(|pieces| RecvRequest {
            // SAFETY: All of the union is a number.
            wr_id: unsafe { wr.__bindgen_anon_1.wr_id },
            pieces,
        }))
    }
}

/// `ib_device_ops.post_send`: no work requests means a process's doorbell, whose requests are in
/// memory that it shares with the driver.
pub(super) unsafe extern "C" fn post_send<T: Verbs>(
    qp: *mut bindings::ib_qp,
    wr: *const bindings::ib_send_wr,
    bad_wr: *mut *const bindings::ib_send_wr,
) -> c_int {
    from_result(|| {
        // SAFETY: Created by `create_qp`; not destroyed during an operation on it.
        let data = unsafe { Qp::<T::Qp>::data(qp) };
        let Some(first) = NonNull::new(wr.cast_mut()) else {
            T::doorbell(data)?;
            return Ok(0);
        };
        // SAFETY: Set before the pair was created.
        let (uobject, qp_type) = unsafe { ((*qp).uobject, (*qp).qp_type) };
        if !uobject.is_null() {
            // SAFETY: ib_core passes a valid place for the work request that failed: the first.
            unsafe { *bad_wr = wr };
            return Err(EOPNOTSUPP);
        }
        let datagrams = matches!(
            qp_type,
            bindings::ib_qp_type_IB_QPT_UD | bindings::ib_qp_type_IB_QPT_GSI
        );
        // SAFETY: The kernel's user keeps all requests during the call.
        let mut requests = unsafe { SendRequests::<T>::new(first, datagrams) };
        T::post_send(data, &mut requests).inspect_err(|_| {
            // SAFETY: As above.
            unsafe { *bad_wr = requests.current };
        })?;
        Ok(0)
    })
}

/// `ib_device_ops.post_recv`.
pub(super) unsafe extern "C" fn post_recv<T: Verbs>(
    qp: *mut bindings::ib_qp,
    wr: *const bindings::ib_recv_wr,
    bad_wr: *mut *const bindings::ib_recv_wr,
) -> c_int {
    from_result(|| {
        // SAFETY: Created by `create_qp`; not destroyed during an operation on it.
        let data = unsafe { Qp::<T::Qp>::data(qp) };
        // SAFETY: Set before the pair was created.
        if unsafe { !(*qp).uobject.is_null() } {
            // SAFETY: ib_core passes a valid place for the work request that failed: the first.
            unsafe { *bad_wr = wr };
            return Err(EOPNOTSUPP);
        }
        // INVARIANT: The kernel's user keeps all requests during the call.
        let mut requests = RecvRequests {
            next: wr,
            current: wr,
            _requests: PhantomData,
        };
        T::post_recv(data, &mut requests).inspect_err(|_| {
            // SAFETY: As above.
            unsafe { *bad_wr = requests.current };
        })?;
        Ok(0)
    })
}
