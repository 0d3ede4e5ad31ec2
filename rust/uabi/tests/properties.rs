// SPDX-License-Identifier: GPL-2.0

//! What holds for all bytes and all numbers.

use oxe_proto::{
    transport::{
        error::WcStatus,
        state::QpType,
        wr::SendOp, //
    },
    types::MAX_MESSAGE_BYTES,
};
use oxe_uabi::{
    recv::{
        self,
        RecvElement, //
    },
    ring::Layout,
    send::{
        self,
        Gather,
        SendElement,
        SendQueue, //
    },
    sge::Sges,
};
use proptest::prelude::*;

/// An element of any bytes, but often with an opcode, flags, a count and a length that make sense.
fn element() -> impl Strategy<Value = Vec<u8>> {
    let sensible = (
        proptest::option::weighted(0.9, 0_u32..17),
        proptest::option::weighted(0.5, 0_u32..16),
        proptest::option::weighted(0.8, 0_u32..24),
        proptest::option::weighted(0.5, 0_u32..400),
    );
    let bytes = proptest::collection::vec(any::<u8>(), 0..=208 + 20 * 16);
    (bytes, sensible).prop_map(|(mut raw, (opcode, flags, count, length))| {
        for (at, value) in [(12, opcode), (16, flags), (196, count), (184, length)] {
            if let (Some(value), Some(place)) = (value, raw.get_mut(at..at + 4)) {
                place.copy_from_slice(&value.to_ne_bytes());
            }
        }
        // Lengths of lists that do not always go beyond what a message may have.
        for sge in raw.get_mut(208..).unwrap_or_default().chunks_exact_mut(16) {
            if sge[0] & 3 != 0 {
                sge[10..12].fill(0);
            }
        }
        raw
    })
}

fn queue() -> impl Strategy<Value = SendQueue> {
    let types = prop_oneof![
        Just(QpType::Rc),
        Just(QpType::Uc),
        Just(QpType::Ud),
        Just(QpType::XrcIni),
    ];
    (types, any::<bool>()).prop_map(|(qp_type, all_signalled)| SendQueue {
        qp_type,
        all_signalled,
    })
}

/// The sum of a list, in numbers that are large enough.
fn sum(sges: &Sges<'_>) -> u64 {
    sges.clone().map(|sge| u64::from(sge.length)).sum()
}

proptest! {
    #[test]
    fn any_send_element(raw in element(), queue in queue()) {
        let parsed = SendElement::parse(&raw, queue);
        let Ok(request) = &parsed.request else {
            prop_assert_eq!(parsed.to_post().op, SendOp::Local);
            return Ok(());
        };
        prop_assert_eq!(parsed.wr_id.to_ne_bytes(), &raw[..8]);
        prop_assert!(request.wr.signalled || !queue.all_signalled);
        let length = request.wr.length;
        match &request.gather {
            Gather::Inline(data) => {
                prop_assert_eq!(data.len(), length as usize);
                prop_assert_eq!(*data, &raw[208..208 + data.len()]);
            }
            Gather::Sges(sges) => {
                let wanted = sum(sges);
                prop_assert!(208 + sges.len() * 16 <= raw.len());
                prop_assert!(wanted <= u64::from(MAX_MESSAGE_BYTES));
                match request.wr.op {
                    SendOp::CompareSwap(_) | SendOp::FetchAdd(_) => {
                        prop_assert_eq!(u64::from(length), wanted.min(8));
                    }
                    SendOp::Flush { .. } => prop_assert_eq!(wanted, 0),
                    SendOp::Local => prop_assert_eq!((wanted, length), (0, 0)),
                    _ => prop_assert_eq!(u64::from(length), wanted),
                }
            }
        }
    }

    #[test]
    fn a_copy_in_two_steps_is_as_good(raw in element(), queue in queue()) {
        if let Some((head, tail)) = raw.split_first_chunk() {
            let bytes = send::tail_bytes(head, tail.len());
            let short = &raw[..send::HEAD_BYTES + bytes];
            prop_assert_eq!(SendElement::parse(short, queue), SendElement::parse(&raw, queue));
        }
        if let Some((head, tail)) = raw.split_first_chunk() {
            let bytes = recv::tail_bytes(head, tail.len());
            let short = &raw[..recv::HEAD_BYTES + bytes];
            prop_assert_eq!(RecvElement::parse(short), RecvElement::parse(&raw));
        }
    }

    #[test]
    fn any_receive_element(
        mut raw in proptest::collection::vec(any::<u8>(), 0..40 + 9 * 16),
        count in proptest::option::weighted(0.9, 0_u32..10),
    ) {
        if let (Some(count), Some(place)) = (count, raw.get_mut(28..32)) {
            place.copy_from_slice(&count.to_ne_bytes());
        }
        match RecvElement::parse(&raw).buffers {
            Ok(buffers) => {
                prop_assert!(40 + buffers.sges.len() * 16 <= raw.len());
                prop_assert_eq!(u64::from(buffers.capacity), sum(&buffers.sges));
            }
            Err(WcStatus::LocalLength) => {
                let count = u32::from_ne_bytes(raw[28..32].try_into().unwrap());
                let sges = Sges::new(&raw[40..], count).expect("they fit");
                prop_assert!(sum(&sges) > u64::from(u32::MAX));
            }
            Err(status) => prop_assert_eq!(status, WcStatus::LocalQpOperation),
        }
    }

    #[test]
    fn any_ring(
        entries in (0..=32_u32).prop_flat_map(|bits| 0..=u32::MAX >> (32 - bits).min(31)),
        bytes in (0..=32_u32).prop_flat_map(|bits| 0..=u32::MAX >> (32 - bits).min(31)),
        index: u32,
    ) {
        let slots = (u64::from(entries) + 1).next_power_of_two();
        let element = u64::from(bytes).max(64).next_power_of_two();
        let total = 384 + u128::from(slots) * u128::from(element);
        let Some(layout) = Layout::new(entries, bytes) else {
            prop_assert!(total > u128::from(u32::MAX));
            return Ok(());
        };
        prop_assert_eq!(u128::from(layout.total_bytes()), total);
        prop_assert!(layout.capacity() >= entries && layout.element_bytes() >= bytes);
        let offset = layout.offset_of(index);
        prop_assert!(offset >= 384);
        prop_assert!(offset as u64 + element <= u64::from(layout.total_bytes()));
        prop_assert_eq!((offset as u64 - 384) / element, u64::from(index) % slots);
    }

    #[test]
    fn any_indices(entries in 0..1000_u32, steps: u32, other: u32) {
        let layout = Layout::new(entries, 64).unwrap();
        let mut mine = layout.cursor();
        mine.advance(steps);
        prop_assert!(mine.index() <= layout.mask());
        prop_assert!(mine.readable(other) <= layout.capacity());
        prop_assert!(mine.writable(other) <= layout.capacity());
        // What cannot be read of a ring can be written.
        let (used, free) = (mine.readable(other), mine.writable(other));
        let full = (mine.index() + 1) & layout.mask() == other & layout.mask();
        prop_assert_eq!(mine.has_room(other), !full);
        let mut theirs = layout.cursor();
        theirs.catch_up(other);
        prop_assert_eq!(used + theirs.writable(mine.index()), layout.capacity());
        prop_assert_eq!(free + theirs.readable(mine.index()), layout.capacity());
        let all = mine.readable(other);
        mine.advance(all);
        prop_assert_eq!(mine, theirs);
    }
}
