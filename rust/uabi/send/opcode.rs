// SPDX-License-Identifier: GPL-2.0

//! The operations that a send request may name.

use crate::{
    abi::wr_opcode,
    cqe::WcOpcode, //
};

/// What a send request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    Write,
    WriteWithImmediate,
    Send,
    SendWithImmediate,
    SendWithInvalidate,
    Read,
    CompareSwap,
    FetchAdd,
    LocalInvalidate,
    BindWindow,
    Flush,
    AtomicWrite,
}

impl Opcode {
    /// What users may ask for. Registering memory by a request is the kernel's alone.
    pub(super) const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            wr_opcode::WRITE => Self::Write,
            wr_opcode::WRITE_WITH_IMMEDIATE => Self::WriteWithImmediate,
            wr_opcode::SEND => Self::Send,
            wr_opcode::SEND_WITH_IMMEDIATE => Self::SendWithImmediate,
            wr_opcode::READ => Self::Read,
            wr_opcode::COMPARE_SWAP => Self::CompareSwap,
            wr_opcode::FETCH_ADD => Self::FetchAdd,
            wr_opcode::LOCAL_INVALIDATE => Self::LocalInvalidate,
            wr_opcode::BIND_WINDOW => Self::BindWindow,
            wr_opcode::SEND_WITH_INVALIDATE => Self::SendWithInvalidate,
            wr_opcode::FLUSH => Self::Flush,
            wr_opcode::ATOMIC_WRITE => Self::AtomicWrite,
            _ => return None,
        })
    }

    pub(super) const fn completes_as(self) -> WcOpcode {
        match self {
            Self::Write | Self::WriteWithImmediate => WcOpcode::Write,
            Self::Send | Self::SendWithImmediate | Self::SendWithInvalidate => WcOpcode::Send,
            Self::Read => WcOpcode::Read,
            Self::CompareSwap => WcOpcode::CompareSwap,
            Self::FetchAdd => WcOpcode::FetchAdd,
            Self::LocalInvalidate => WcOpcode::LocalInvalidate,
            Self::BindWindow => WcOpcode::BindWindow,
            Self::Flush => WcOpcode::Flush,
            Self::AtomicWrite => WcOpcode::AtomicWrite,
        }
    }

    /// Whether datagrams know it.
    pub(super) const fn fits_datagrams(self) -> bool {
        matches!(self, Self::Send | Self::SendWithImmediate)
    }
}
