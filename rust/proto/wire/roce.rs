// SPDX-License-Identifier: GPL-2.0

//! RoCEv2 framing (InfiniBand Architecture, annex A17): UDP payload = BTH, headers, data, pad,
//! ICRC.

use super::bth::Bth;

/// The UDP port that RoCEv2 is sent to.
pub const UDP_PORT: u16 = 4791;

/// Bytes of the invariant CRC (ICRC) that end each packet.
pub const ICRC_BYTES: usize = 4;

/// Bytes of the longest headers: BTH, XRCETH and AtomicETH.
pub const MAX_HEADER_BYTES: usize = 44;

/// Reserved bytes, zero, that follow the base transport header of a congestion notification packet
/// (CNP).
pub const CNP_RESERVED_BYTES: usize = 16;

/// The shortest UDP payload that can be a packet: a base transport header and the ICRC.
pub const MIN_PAYLOAD_BYTES: usize = Bth::BYTES.saturating_add(ICRC_BYTES);
