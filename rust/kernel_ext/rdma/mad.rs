// SPDX-License-Identifier: GPL-2.0

//! What a device answers to management datagrams: what its port has sent and received (class
//! "performance management", IBTA 16.1). ib_core has the rest: connections, and refusals.
//!
//! C header: [`include/rdma/ib_pma.h`](srctree/include/rdma/ib_pma.h)

use super::{
    Device,
    Verbs, //
};
use crate::bindings;
use kernel::prelude::*;

/// Bytes of a management datagram.
const MAD_BYTES: usize = bindings::IB_MGMT_MAD_SIZE as usize;

/// Where the parts of the header are.
const CLASS: usize = 1;
const METHOD: usize = 3;
const STATUS: usize = 4;
const ATTRIBUTE: usize = 16;
const HEADER_BYTES: usize = 24;
/// Where this class has its data.
const DATA: usize = 64;
/// Where each attribute of the class has the port that it is of, in the data.
const PORT_SELECT: usize = 1;

/// Attributes of the class.
const CLASS_PORT_INFO: u16 = 0x0001;
const PORT_COUNTERS: u16 = 0x0012;
const PORT_COUNTERS_EXTENDED: u16 = 0x001d;

/// Status: a field of the attribute has an invalid value.
const INVALID_FIELD: u16 = 7 << 2;

/// What a port has done since it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortTraffic {
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Packets that should have been sent and were dropped here.
    pub sent_dropped: u64,
    /// Packets received that were in error.
    pub received_errors: u64,
    /// How often the link went down.
    pub link_downed: u64,
}

type Mad = [u8; MAD_BYTES];

/// Puts bytes where they belong; a place outside of the datagram is none.
fn put(mad: &mut Mad, at: usize, bytes: &[u8]) {
    if let Some(place) = mad
        .get_mut(at..)
        .and_then(|rest| rest.get_mut(..bytes.len()))
    {
        place.copy_from_slice(bytes);
    }
}

fn u16_at(mad: &Mad, at: usize) -> u16 {
    match mad.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => u16::from_be_bytes(*bytes),
        None => 0,
    }
}

/// Counters of this class stop at the highest value.
fn low16(value: u64) -> [u8; 2] {
    u16::try_from(value).unwrap_or(u16::MAX).to_be_bytes()
}

/// As above.
fn low32(value: u64) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_be_bytes()
}

/// Bytes as this class counts them: in words of four.
const fn words(bytes: u64) -> u64 {
    bytes / 4
}

impl PortTraffic {
    /// What fits into `struct ib_pma_portcounters`.
    fn write_short(&self, mad: &mut Mad) {
        let link_downed = u8::try_from(self.link_downed).unwrap_or(u8::MAX);
        put(mad, DATA + 7, &[link_downed]);
        put(mad, DATA + 8, &low16(self.received_errors));
        put(mad, DATA + 14, &low16(self.sent_dropped));
        put(mad, DATA + 24, &low32(words(self.sent_bytes)));
        put(mad, DATA + 28, &low32(words(self.received_bytes)));
        put(mad, DATA + 32, &low32(self.sent_packets));
        put(mad, DATA + 36, &low32(self.received_packets));
    }

    /// What fits into `struct ib_pma_portcounters_ext`. All packets are unicast.
    fn write_extended(&self, mad: &mut Mad) {
        put(mad, DATA + 8, &words(self.sent_bytes).to_be_bytes());
        put(mad, DATA + 16, &words(self.received_bytes).to_be_bytes());
        put(mad, DATA + 24, &self.sent_packets.to_be_bytes());
        put(mad, DATA + 32, &self.received_packets.to_be_bytes());
        put(mad, DATA + 40, &self.sent_packets.to_be_bytes());
        put(mad, DATA + 48, &self.received_packets.to_be_bytes());
    }
}

/// The answer to a datagram; none if it is for others.
fn answer(asked: &Mad, port: u32, traffic: impl FnOnce() -> PortTraffic) -> Option<Mad> {
    let (class, method) = (asked.get(CLASS)?, asked.get(METHOD)?);
    if u32::from(*class) != bindings::IB_MGMT_CLASS_PERF_MGMT
        || u32::from(*method) != bindings::IB_MGMT_METHOD_GET
    {
        return None;
    }
    let mut answer = [0; MAD_BYTES];
    put(&mut answer, 0, asked.get(..HEADER_BYTES)?);
    put(
        &mut answer,
        METHOD,
        &[bindings::IB_MGMT_METHOD_GET_RESP as u8],
    );
    put(&mut answer, STATUS, &[0; 2]);
    let selected = *asked.get(DATA + PORT_SELECT)?;
    let attribute = u16_at(asked, ATTRIBUTE);
    match attribute {
        CLASS_PORT_INFO => {
            // Versions of base and class, and that there are the extended counters.
            put(&mut answer, DATA, &[1, 1]);
            put(&mut answer, DATA + 2, &(1_u16 << 9).to_be_bytes());
        }
        PORT_COUNTERS | PORT_COUNTERS_EXTENDED => {
            put(&mut answer, DATA + PORT_SELECT, &[selected]);
            if u32::from(selected) != port && selected != u8::MAX {
                put(&mut answer, STATUS, &INVALID_FIELD.to_be_bytes());
            } else if attribute == PORT_COUNTERS {
                traffic().write_short(&mut answer);
            } else {
                traffic().write_extended(&mut answer);
            }
        }
        _ => return None,
    }
    Some(answer)
}

/// `ib_device_ops.process_mad`.
pub(super) unsafe extern "C" fn process_mad<T: Verbs>(
    ib: *mut bindings::ib_device,
    _flags: c_int,
    port: u32,
    _wc: *const bindings::ib_wc,
    _grh: *const bindings::ib_grh,
    asked: *const bindings::ib_mad,
    to: *mut bindings::ib_mad,
    _size: *mut usize,
    _pkey_index: *mut u16,
) -> c_int {
    const {
        assert!(size_of::<bindings::ib_mad>() == MAD_BYTES);
    }
    // SAFETY: ib_core calls operations for valid devices, before `dealloc_driver`.
    let dev = unsafe { Device::<T>::from_raw(ib) };
    // SAFETY: ib_core passes a datagram of this size that nobody changes meanwhile.
    let asked = unsafe { &*asked.cast::<Mad>() };
    let mut result = bindings::ib_mad_result_IB_MAD_RESULT_SUCCESS;
    if let Some(answer) = answer(asked, port, || T::port_traffic(dev)) {
        // SAFETY: ib_core passes room for a datagram of this size.
        unsafe { to.cast::<Mad>().write(answer) };
        result |= bindings::ib_mad_result_IB_MAD_RESULT_REPLY;
    }
    result as c_int
}
