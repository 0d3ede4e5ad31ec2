// SPDX-License-Identifier: GPL-2.0

//! The user ABI as machine code: each entry once.

use oxe_uabi::{
    av::Av,
    cqe::Cqe,
    recv::{self, RecvElement},
    responses::{
        AddressHandle,
        CompletionQueue,
        ModifySrq,
        QueuePair,
        SharedReceiveQueue, //
    },
    ring::{Cursor, Layout},
    send::{self, Room, SendElement, SendQueue},
    sge::{Sge, Sges},
};

/// [`Layout::new`] and all that it is asked for.
#[inline(never)]
pub fn layout(entries: u32, room: Room, index: u32) -> Option<(u32, usize, [u8; 8])> {
    let layout = Layout::new(entries.min(room.sges()), room.element_bytes())?;
    let numbers = layout.slots() ^ layout.capacity() ^ layout.element_bytes();
    let total = numbers ^ layout.total_bytes() ^ room.inline_bytes();
    Some((total, layout.offset_of(index), layout.head()))
}

/// [`Room::new`] and its counterpart of receive queues.
#[inline(never)]
pub fn room(sges: u32, inline_bytes: u32) -> Option<(Room, u32)> {
    Room::new(sges, inline_bytes).zip(recv::element_bytes(sges))
}

/// What a [`Cursor`] can do.
#[inline(never)]
pub fn cursor(cursor: &mut Cursor, other: u32) -> (u32, u32, bool) {
    let seen = (
        cursor.readable(other),
        cursor.writable(other),
        cursor.has_room(other),
    );
    cursor.advance(other);
    cursor.catch_up(other.wrapping_add(cursor.index()));
    seen
}

/// [`SendElement::parse`].
#[inline(never)]
pub fn parse_send(raw: &[u8], queue: SendQueue) -> SendElement<'_> {
    SendElement::parse(raw, queue)
}

/// [`SendElement::to_post`] and [`send::tail_bytes`].
#[inline(never)]
pub fn post(element: &SendElement<'_>, head: &[u8; send::HEAD_BYTES], room: usize) -> usize {
    send::tail_bytes(head, room).wrapping_add(element.to_post().length as usize)
}

/// [`RecvElement::parse`].
#[inline(never)]
pub fn parse_receive(raw: &[u8]) -> RecvElement<'_> {
    RecvElement::parse(raw)
}

/// [`recv::tail_bytes`].
#[inline(never)]
pub fn receive_tail(head: &[u8; recv::HEAD_BYTES], room: usize) -> usize {
    recv::tail_bytes(head, room)
}

/// What [`Sges`] can do.
#[inline(never)]
pub fn list(raw: &[u8], count: u32) -> Option<(u32, usize, Sge)> {
    let mut sges = Sges::new(raw, count)?;
    Some((sges.total()?, sges.len(), sges.next()?))
}

/// [`Av::parse`].
#[inline(never)]
pub fn parse_vector(raw: &[u8; Av::BYTES]) -> Option<Av> {
    Av::parse(raw)
}

/// [`Cqe::to_bytes`].
#[inline(never)]
pub fn completion(cqe: &Cqe) -> [u8; Cqe::BYTES] {
    cqe.to_bytes()
}

/// The answers to calls.
#[inline(never)]
pub fn answers(
    qp: QueuePair,
    cq: CompletionQueue,
    srq: SharedReceiveQueue,
    ah: AddressHandle,
) -> ([u8; 32], [u8; 16], [u8; 24], [u8; 8]) {
    (qp.to_bytes(), cq.to_bytes(), srq.to_bytes(), ah.to_bytes())
}

/// [`ModifySrq::parse`].
#[inline(never)]
pub fn parse_modify_srq(raw: &[u8; ModifySrq::BYTES]) -> ModifySrq {
    ModifySrq::parse(raw)
}
