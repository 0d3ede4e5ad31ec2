// SPDX-License-Identifier: GPL-2.0

//! Datagram extended transport header (DETH).

use crate::types::{
    Qkey,
    Qpn, //
};

/// What a datagram says of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deth {
    /// Must be that of the receiving queue pair.
    pub qkey: Qkey,
    /// The sending queue pair.
    pub source_qp: Qpn,
}
