// SPDX-License-Identifier: GPL-2.0

//! The head of an element, and what it says of the bytes behind it.

use super::{
    opcode::Opcode,
    Bind,
    Destination,
    Detail,
    Gather,
    Request,
    SendQueue,
    HEAD_BYTES, //
};
use crate::{
    abi::{
        flush,
        send as at,
        send_flag, //
    },
    av::Av,
    bytes::{
        get,
        get_u32,
        get_u64,
        get_u8, //
    },
    sge::{
        list_bytes,
        Sges, //
    },
};
use core::num::NonZeroU32;
use oxe_proto::{
    transport::{
        error::WcStatus,
        wr::{
            SendOp,
            SendWr, //
        },
    },
    types::{
        Immediate,
        Qkey,
        Qpn,
        Rkey,
        SrqNumber,
        MAX_MESSAGE_BYTES, //
    },
    wire::{
        atomic::AtomicEth,
        flush::Feth,
        packet::Tail, //
    },
};

/// Bytes that an atomic changes.
const ATOMIC_BYTES: u32 = 8;

/// Which data a request has.
#[derive(Clone, Copy)]
pub(super) enum DataKind {
    None,
    Sges(u32),
    Inline(u32),
    /// It may not have any like that.
    Wrong,
}

impl DataKind {
    pub(super) fn tail_bytes(self) -> usize {
        match self {
            Self::None | Self::Wrong => 0,
            Self::Sges(count) => list_bytes(count),
            Self::Inline(length) => length as usize,
        }
    }
}

/// The head of an element.
#[derive(Clone, Copy)]
pub(super) struct Head<'e>(&'e [u8; HEAD_BYTES]);

impl<'e> Head<'e> {
    pub(super) fn new(raw: &'e [u8; HEAD_BYTES]) -> Self {
        Self(raw)
    }

    #[inline(always)]
    fn u32_at<const AT: usize>(self) -> u32 {
        get_u32::<AT, HEAD_BYTES>(self.0)
    }

    #[inline(always)]
    fn u64_at<const AT: usize>(self) -> u64 {
        get_u64::<AT, HEAD_BYTES>(self.0)
    }

    pub(super) fn wr_id(self) -> u64 {
        self.u64_at::<{ at::WR_ID }>()
    }

    pub(super) fn opcode(self) -> Option<Opcode> {
        Opcode::from_number(self.u32_at::<{ at::OPCODE }>())
    }

    fn has(self, flag: u32) -> bool {
        self.u32_at::<{ at::FLAGS }>() & flag != 0
    }

    /// All of a request.
    pub(super) fn request(
        self,
        opcode: Opcode,
        tail: &[u8],
        queue: SendQueue,
    ) -> Result<Request<'_>, WcStatus> {
        let (op, detail) = if queue.qp_type.is_datagram() {
            self.datagram(opcode)?
        } else {
            self.operation(opcode)?
        };
        let (gather, length) = self.data(opcode, tail)?;
        // Earlier requests may use the key until they have ended.
        let fence = self.has(send_flag::FENCE) || opcode == Opcode::LocalInvalidate;
        let wr = SendWr {
            op,
            length,
            signalled: queue.all_signalled || self.has(send_flag::SIGNALLED),
            solicited: self.has(send_flag::SOLICITED),
            fence,
            // Elements have no place for it.
            srq: SrqNumber::from_low_bits(0),
        };
        Ok(Request { wr, gather, detail })
    }

    fn immediate(self) -> Immediate {
        Immediate(get::<{ at::IMMEDIATE }, 4, HEAD_BYTES>(self.0))
    }

    fn invalidate(self) -> Rkey {
        Rkey(self.u32_at::<{ at::INVALIDATE }>())
    }

    /// What a datagram asks for.
    fn datagram(self, opcode: Opcode) -> Result<(SendOp, Detail), WcStatus> {
        let destination = match NonZeroU32::new(self.u32_at::<{ at::UD_AH }>()) {
            Some(number) => Destination::Handle(number),
            None => {
                let vector = get::<{ at::UD_AV }, { Av::BYTES }, HEAD_BYTES>(self.0);
                Destination::Vector(Av::parse(&vector).ok_or(WcStatus::LocalQpOperation)?)
            }
        };
        let op = SendOp::Datagram {
            dest_qp: Qpn::from_low_bits(self.u32_at::<{ at::UD_QPN }>()),
            qkey: Qkey(self.u32_at::<{ at::UD_QKEY }>()),
            immediate: (opcode == Opcode::SendWithImmediate).then(|| self.immediate()),
        };
        Ok((op, Detail::Datagram(destination)))
    }

    /// What a request on a connection asks for.
    fn operation(self, opcode: Opcode) -> Result<(SendOp, Detail), WcStatus> {
        let address = self.u64_at::<{ at::RDMA_ADDRESS }>();
        let rkey = Rkey(self.u32_at::<{ at::RDMA_RKEY }>());
        let op = match opcode {
            Opcode::Send => SendOp::Send(Tail::None),
            Opcode::SendWithImmediate => SendOp::Send(Tail::Immediate(self.immediate())),
            Opcode::SendWithInvalidate => SendOp::Send(Tail::Invalidate(self.invalidate())),
            Opcode::Write | Opcode::WriteWithImmediate => SendOp::Write {
                address,
                rkey,
                immediate: (opcode == Opcode::WriteWithImmediate).then(|| self.immediate()),
            },
            Opcode::Read => SendOp::Read { address, rkey },
            Opcode::AtomicWrite => SendOp::AtomicWrite { address, rkey },
            Opcode::CompareSwap => SendOp::CompareSwap(AtomicEth {
                swap_add: self.u64_at::<{ at::ATOMIC_SWAP }>(),
                compare: self.u64_at::<{ at::ATOMIC_OPERAND }>(),
                ..self.atomic()
            }),
            Opcode::FetchAdd => SendOp::FetchAdd(AtomicEth {
                swap_add: self.u64_at::<{ at::ATOMIC_OPERAND }>(),
                ..self.atomic()
            }),
            Opcode::Flush => SendOp::Flush {
                feth: self.feth()?,
                address: self.u64_at::<{ at::FLUSH_ADDRESS }>(),
                rkey: Rkey(self.u32_at::<{ at::FLUSH_RKEY }>()),
            },
            Opcode::LocalInvalidate => {
                return Ok((SendOp::Local, Detail::Invalidate(self.invalidate())))
            }
            Opcode::BindWindow => return Ok((SendOp::Local, Detail::Bind(self.bind()))),
        };
        Ok((op, Detail::None))
    }

    /// An atomic's target.
    fn atomic(self) -> AtomicEth {
        AtomicEth {
            address: self.u64_at::<{ at::ATOMIC_ADDRESS }>(),
            rkey: Rkey(self.u32_at::<{ at::ATOMIC_RKEY }>()),
            swap_add: 0,
            compare: 0,
        }
    }

    /// How far a FLUSH reaches; it has to say so.
    fn feth(self) -> Result<Feth, WcStatus> {
        let kind = u32::from(get_u8::<{ at::FLUSH_TYPE }, HEAD_BYTES>(self.0));
        let level = u32::from(get_u8::<{ at::FLUSH_LEVEL }, HEAD_BYTES>(self.0));
        let known = flush::GLOBAL | flush::PERSISTENT;
        if kind & known == 0 || kind & !known != 0 || level > flush::REGION {
            return Err(WcStatus::LocalQpOperation);
        }
        Ok(Feth {
            visible: kind & flush::GLOBAL != 0,
            persistent: kind & flush::PERSISTENT != 0,
            whole_region: level == flush::REGION,
        })
    }

    fn bind(self) -> Bind {
        Bind {
            window: Rkey(self.u32_at::<{ at::MW_OLD_RKEY }>()),
            rkey: Rkey(self.u32_at::<{ at::MW_NEW_RKEY }>()),
            lkey: self.u32_at::<{ at::MW_LKEY }>(),
            addr: self.u64_at::<{ at::MW_ADDRESS }>(),
            length: self.u64_at::<{ at::MW_LENGTH }>(),
            access: self.u32_at::<{ at::MW_ACCESS }>(),
        }
    }

    /// Which data there is; [`super`] says why so.
    pub(super) fn data_kind(self, opcode: Opcode) -> DataKind {
        let count = self.u32_at::<{ at::NUM_SGE }>();
        let length = self.u32_at::<{ at::LENGTH }>();
        let inline = self.has(send_flag::INLINE);
        match opcode {
            Opcode::LocalInvalidate | Opcode::BindWindow | Opcode::Flush => DataKind::None,
            // What comes back cannot go into the element.
            Opcode::Read | Opcode::CompareSwap | Opcode::FetchAdd if inline => DataKind::Wrong,
            Opcode::Read | Opcode::CompareSwap | Opcode::FetchAdd => DataKind::Sges(count),
            _ if inline || (count == 0 && length != 0) => DataKind::Inline(length),
            _ => DataKind::Sges(count),
        }
    }

    /// The data and its length.
    fn data(self, opcode: Opcode, tail: &[u8]) -> Result<(Gather<'_>, u32), WcStatus> {
        match self.data_kind(opcode) {
            DataKind::None => {
                let length = match opcode {
                    Opcode::Flush => self.u32_at::<{ at::LENGTH }>(),
                    _ => 0,
                };
                Ok((Gather::Sges(Sges::default()), length))
            }
            DataKind::Inline(length) => {
                let data = tail.get(..length as usize).ok_or(WcStatus::LocalLength)?;
                Ok((Gather::Inline(data), length))
            }
            DataKind::Sges(count) => {
                let sges = Sges::new(tail, count).ok_or(WcStatus::LocalQpOperation)?;
                let total = sges.total().filter(|total| *total <= MAX_MESSAGE_BYTES);
                let mut length = total.ok_or(WcStatus::LocalLength)?;
                if matches!(opcode, Opcode::CompareSwap | Opcode::FetchAdd) {
                    length = length.min(ATOMIC_BYTES);
                }
                Ok((Gather::Sges(sges), length))
            }
            DataKind::Wrong => Err(WcStatus::LocalQpOperation),
        }
    }
}
