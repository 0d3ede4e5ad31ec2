// SPDX-License-Identifier: GPL-2.0

//! Entries of completion queues.

use crate::{
    abi::{
        wc as at,
        wc_flag,
        wc_opcode,
        wc_status, //
    },
    bytes::put,
};
use oxe_proto::{
    transport::{
        error::WcStatus,
        wr::RecvKind, //
    },
    types::Qpn,
    wire::packet::Tail,
};

/// What a completion tells of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WcOpcode {
    /// A SEND or a datagram, of any kind.
    #[default]
    Send,
    /// A WRITE, with immediate data or without.
    Write,
    /// A READ.
    Read,
    /// A compare and swap.
    CompareSwap,
    /// A fetch and add.
    FetchAdd,
    /// The binding of a memory window.
    BindWindow,
    /// The invalidation of a key.
    LocalInvalidate,
    /// A FLUSH.
    Flush,
    /// An ATOMIC WRITE.
    AtomicWrite,
    /// A receive request that took a SEND or a datagram.
    Receive,
    /// A receive request that took a WRITE's immediate data.
    ReceiveWrite,
}

impl WcOpcode {
    /// Its number.
    #[inline]
    pub const fn number(self) -> u32 {
        match self {
            Self::Send => wc_opcode::SEND,
            Self::Write => wc_opcode::WRITE,
            Self::Read => wc_opcode::READ,
            Self::CompareSwap => wc_opcode::COMPARE_SWAP,
            Self::FetchAdd => wc_opcode::FETCH_ADD,
            Self::BindWindow => wc_opcode::BIND_WINDOW,
            Self::LocalInvalidate => wc_opcode::LOCAL_INVALIDATE,
            Self::Flush => wc_opcode::FLUSH,
            Self::AtomicWrite => wc_opcode::ATOMIC_WRITE,
            Self::Receive => wc_opcode::RECEIVE,
            Self::ReceiveWrite => wc_opcode::RECEIVE_WRITE,
        }
    }
}

impl From<RecvKind> for WcOpcode {
    #[inline]
    fn from(kind: RecvKind) -> Self {
        match kind {
            RecvKind::Send => Self::Receive,
            RecvKind::WriteWithImmediate => Self::ReceiveWrite,
        }
    }
}

/// The number of a status.
#[inline]
pub const fn status_number(status: WcStatus) -> u32 {
    match status {
        WcStatus::Success => wc_status::SUCCESS,
        WcStatus::LocalLength => wc_status::LOCAL_LENGTH,
        WcStatus::LocalQpOperation => wc_status::LOCAL_QP_OPERATION,
        WcStatus::LocalProtection => wc_status::LOCAL_PROTECTION,
        WcStatus::Flushed => wc_status::FLUSHED,
        WcStatus::MemoryWindowBind => wc_status::WINDOW_BIND,
        WcStatus::BadResponse => wc_status::BAD_RESPONSE,
        WcStatus::LocalAccess => wc_status::LOCAL_ACCESS,
        WcStatus::RemoteInvalidRequest => wc_status::REMOTE_INVALID_REQUEST,
        WcStatus::RemoteAccess => wc_status::REMOTE_ACCESS,
        WcStatus::RemoteOperation => wc_status::REMOTE_OPERATION,
        WcStatus::RetryExceeded => wc_status::RETRY_EXCEEDED,
        WcStatus::RnrRetryExceeded => wc_status::RNR_RETRY_EXCEEDED,
    }
}

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqe {
    /// What the user called the request.
    pub wr_id: u64,
    /// How it ended. Unless well, what counts beside it is `wr_id`, `qp_num` and `vendor_error`.
    pub status: WcStatus,
    /// What it was.
    pub opcode: WcOpcode,
    /// The driver's own reason for a failure.
    pub vendor_error: u32,
    /// Bytes of data.
    pub byte_len: u32,
    /// Immediate data, or the key that the peer had invalidated.
    pub tail: Tail,
    /// The queue pair of the request.
    pub qp_num: Qpn,
    /// The queue pair that sent.
    pub source_qp: Qpn,
    /// The data begins with the 40 bytes of a network header.
    pub grh: bool,
    /// Index of the partition key.
    pub pkey_index: u16,
    /// Source's local identifier; RoCE has none.
    pub slid: u16,
    /// Service level.
    pub sl: u8,
    /// Low bits of the destination's local identifier; RoCE has none.
    pub dlid_path_bits: u8,
    /// Port of the device.
    pub port: u8,
}

impl Cqe {
    /// Bytes of an element of the ring, of which an entry takes the first 48.
    pub const BYTES: usize = 64;

    /// A completion with nothing but what each has.
    pub const fn new(wr_id: u64, status: WcStatus, opcode: WcOpcode, qp_num: Qpn) -> Self {
        Self {
            wr_id,
            status,
            opcode,
            vendor_error: 0,
            byte_len: 0,
            tail: Tail::None,
            qp_num,
            source_qp: Qpn::from_low_bits(0),
            grh: false,
            pkey_index: 0,
            slid: 0,
            sl: 0,
            dlid_path_bits: 0,
            port: 0,
        }
    }

    /// The element as it is in the ring.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        const SIZE: usize = Cqe::BYTES;
        let (ex, tail_flag) = match self.tail {
            Tail::None => ([0; 4], 0),
            // As it came, most significant byte first.
            Tail::Immediate(immediate) => (immediate.0, wc_flag::IMMEDIATE),
            Tail::Invalidate(rkey) => (rkey.0.to_ne_bytes(), wc_flag::INVALIDATED),
        };
        let grh_flag = if self.grh { wc_flag::GRH } else { 0 };
        let mut raw = [0; SIZE];
        put::<{ at::WR_ID }, 8, SIZE>(&mut raw, self.wr_id.to_ne_bytes());
        put::<{ at::STATUS }, 4, SIZE>(&mut raw, status_number(self.status).to_ne_bytes());
        put::<{ at::OPCODE }, 4, SIZE>(&mut raw, self.opcode.number().to_ne_bytes());
        put::<{ at::VENDOR_ERROR }, 4, SIZE>(&mut raw, self.vendor_error.to_ne_bytes());
        put::<{ at::BYTE_LEN }, 4, SIZE>(&mut raw, self.byte_len.to_ne_bytes());
        put::<{ at::IMMEDIATE }, 4, SIZE>(&mut raw, ex);
        put::<{ at::QP_NUM }, 4, SIZE>(&mut raw, self.qp_num.get().to_ne_bytes());
        put::<{ at::SOURCE_QP }, 4, SIZE>(&mut raw, self.source_qp.get().to_ne_bytes());
        put::<{ at::FLAGS }, 4, SIZE>(&mut raw, (tail_flag | grh_flag).to_ne_bytes());
        put::<{ at::PKEY_INDEX }, 2, SIZE>(&mut raw, self.pkey_index.to_ne_bytes());
        put::<{ at::SLID }, 2, SIZE>(&mut raw, self.slid.to_ne_bytes());
        put::<{ at::SL }, 1, SIZE>(&mut raw, [self.sl]);
        put::<{ at::DLID_PATH_BITS }, 1, SIZE>(&mut raw, [self.dlid_path_bits]);
        put::<{ at::PORT }, 1, SIZE>(&mut raw, [self.port]);
        raw
    }
}

/// Both are in the same place.
const _: () = assert!(at::IMMEDIATE == at::INVALIDATED && at::BYTES <= Cqe::BYTES);

#[cfg(test)]
mod tests {
    use super::*;
    use oxe_proto::types::{
        Immediate,
        Rkey, //
    };

    #[test]
    fn fields_of_an_entry() {
        let raw = Cqe {
            wr_id: 0x0102_0304_0506_0708,
            status: WcStatus::LocalProtection,
            opcode: WcOpcode::ReceiveWrite,
            vendor_error: 0x1112_1314,
            byte_len: 0x2122_2324,
            tail: Tail::Immediate(Immediate([9, 8, 7, 6])),
            qp_num: Qpn::from_low_bits(0x0032_3334),
            source_qp: Qpn::from_low_bits(0x0042_4344),
            grh: true,
            pkey_index: 0x5152,
            slid: 0x6162,
            sl: 0x71,
            dlid_path_bits: 0x72,
            port: 0x73,
        }
        .to_bytes();
        let u32_at = |at: usize| u32::from_ne_bytes(raw[at..at + 4].try_into().unwrap());
        let u16_at = |at: usize| u16::from_ne_bytes(raw[at..at + 2].try_into().unwrap());
        assert_eq!(raw[..8], 0x0102_0304_0506_0708_u64.to_ne_bytes());
        assert_eq!((u32_at(8), u32_at(12)), (4, 0x81));
        assert_eq!((u32_at(16), u32_at(20)), (0x1112_1314, 0x2122_2324));
        assert_eq!(raw[24..28], [9, 8, 7, 6]);
        assert_eq!((u32_at(28), u32_at(32)), (0x0032_3334, 0x0042_4344));
        assert_eq!(u32_at(36), 1 | 2);
        assert_eq!((u16_at(40), u16_at(42)), (0x5152, 0x6162));
        assert_eq!(raw[44..47], [0x71, 0x72, 0x73]);
        assert_eq!(raw[47..], [0; 17]);
    }

    #[test]
    fn a_key_is_a_number_and_immediate_data_are_bytes() {
        let mut cqe = Cqe::new(1, WcStatus::Success, WcOpcode::Receive, Qpn::GSI);
        assert_eq!(cqe.to_bytes()[36..40], 0_u32.to_ne_bytes());
        cqe.tail = Tail::Invalidate(Rkey(0x0102_0304));
        let raw = cqe.to_bytes();
        assert_eq!(raw[24..28], 0x0102_0304_u32.to_ne_bytes());
        assert_eq!(raw[36..40], 4_u32.to_ne_bytes());
    }

    #[test]
    fn numbers_of_receives_have_their_bit() {
        assert_eq!(WcOpcode::from(RecvKind::Send).number(), 0x80);
        assert_eq!(WcOpcode::from(RecvKind::WriteWithImmediate).number(), 0x81);
    }
}
