// SPDX-License-Identifier: GPL-2.0

//! Target `ring_element`: a ring of any size, any indices and an element of any bytes. Nothing
//! reaches beyond the ring or the element, no sum wraps, and what cannot be done has a status.

use crate::input::Input;
use oxe_proto::{
    transport::{
        error::WcStatus,
        state::QpType,
        wr::{
            SendOp,
            SendWr, //
        },
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
        Detail,
        Gather,
        Request,
        SendElement,
        SendQueue, //
    },
    sge::Sges,
};

const TYPES: [QpType; 5] = [
    QpType::Rc,
    QpType::Uc,
    QpType::Ud,
    QpType::Gsi,
    QpType::XrcIni,
];

/// The sum of a list, which lies behind `head` bytes of an element.
fn sum(sges: &Sges<'_>, head: usize, raw: &[u8]) -> u64 {
    assert!(head + sges.len() * 16 <= raw.len());
    let lengths = sges.clone().map(|sge| u64::from(sge.length));
    assert_eq!(lengths.len(), lengths.clone().count());
    lengths.sum()
}

fn ring(entries: u32, element_bytes: u32, steps: u32, other: u32) {
    let slots = (u64::from(entries) + 1).next_power_of_two();
    let element = u64::from(element_bytes).max(64).next_power_of_two();
    let total = 384 + u128::from(slots) * u128::from(element);
    let Some(layout) = Layout::new(entries, element_bytes) else {
        assert!(total > u128::from(u32::MAX));
        return;
    };
    assert_eq!(u128::from(layout.total_bytes()), total);
    assert!(layout.capacity() >= entries && layout.element_bytes() >= element_bytes);
    for index in [steps, other] {
        let offset = layout.offset_of(index);
        assert!(offset >= 384 && offset as u64 + element <= u64::from(layout.total_bytes()));
    }

    let mut mine = layout.cursor();
    mine.advance(steps);
    let mut theirs = layout.cursor();
    theirs.catch_up(other);
    let readable = mine.readable(other);
    assert_eq!(
        readable + theirs.writable(mine.index()),
        layout.capacity(),
        "what is not used is free"
    );
    assert_eq!(mine.has_room(other), mine.writable(other) > 0);
    mine.advance(readable);
    assert_eq!(mine, theirs);
}

fn request(request: &Request<'_>, raw: &[u8], queue: SendQueue) {
    let SendWr { op, length, .. } = request.wr;
    assert!(request.wr.signalled || !queue.all_signalled);
    match &request.gather {
        Gather::Inline(data) => {
            assert_eq!(*data, &raw[208..208 + length as usize]);
            assert!(matches!(
                op,
                SendOp::Send(_)
                    | SendOp::Write { .. }
                    | SendOp::Datagram { .. }
                    | SendOp::AtomicWrite { .. }
            ));
        }
        Gather::Sges(sges) => {
            let sum = sum(sges, 208, raw);
            assert!(sum <= u64::from(MAX_MESSAGE_BYTES));
            let wanted = match op {
                SendOp::CompareSwap(_) | SendOp::FetchAdd(_) => sum.min(8),
                SendOp::Flush { .. } => u64::from(length) + sum,
                _ => sum,
            };
            assert_eq!(u64::from(length), wanted);
        }
    }
    let datagram = matches!(op, SendOp::Datagram { .. });
    assert_eq!(datagram, queue.qp_type.is_datagram());
    match request.detail {
        Detail::None => assert!(!datagram && op != SendOp::Local),
        Detail::Datagram(_) => assert!(datagram),
        Detail::Invalidate(_) => assert!(op == SendOp::Local && request.wr.fence),
        Detail::Bind(_) => assert!(op == SendOp::Local),
    }
}

fn send(raw: &[u8], queue: SendQueue) {
    let parsed = SendElement::parse(raw, queue);
    match &parsed.request {
        Ok(parsed) => request(parsed, raw, queue),
        Err(status) => {
            assert!(matches!(
                status,
                WcStatus::LocalLength | WcStatus::LocalQpOperation
            ));
            assert_eq!(parsed.to_post(), SendWr::new(SendOp::Local, 0));
        }
    }
    if let Some((head, tail)) = raw.split_first_chunk() {
        let bytes = send::tail_bytes(head, tail.len());
        let short = &raw[..send::HEAD_BYTES + bytes];
        assert_eq!(SendElement::parse(short, queue), parsed);
    }
}

fn receive(raw: &[u8]) {
    let parsed = RecvElement::parse(raw);
    match &parsed.buffers {
        Ok(buffers) => assert_eq!(u64::from(buffers.capacity), sum(&buffers.sges, 40, raw)),
        Err(WcStatus::LocalLength) => {
            let list = Sges::new(
                &raw[40..],
                u32::from_ne_bytes([raw[28], raw[29], raw[30], raw[31]]),
            );
            assert!(sum(&list.expect("they fit"), 40, raw) > u64::from(u32::MAX));
        }
        Err(status) => assert_eq!(*status, WcStatus::LocalQpOperation),
    }
    if let Some((head, tail)) = raw.split_first_chunk() {
        let bytes = recv::tail_bytes(head, tail.len());
        let short = &raw[..recv::HEAD_BYTES + bytes];
        assert_eq!(RecvElement::parse(short), parsed);
    }
}

/// A queue pair and a ring by the first 18 bytes, and the rest as an element of each kind.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let queue = SendQueue {
        qp_type: *input.choose(&TYPES),
        all_signalled: input.bool(),
    };
    ring(input.u32(), input.u32(), input.u32(), input.u32());
    let raw = input.rest();
    send(raw, queue);
    receive(raw);
}
