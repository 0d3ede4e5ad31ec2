// SPDX-License-Identifier: GPL-2.0

//! What the responder keeps of READs, atomics, FLUSHes and ATOMIC WRITEs: to answer them, and to
//! answer them again if the answer is lost (IBTA 9.7.5.1.4, "responder resources").
//!
//! An atomic is never done twice: its result is kept. A READ is read again from memory; the peer
//! may ask for a part of what it asked for before.

use super::{
    context::Context,
    repeats::{
        Due,
        Repeat,
        Repeats, //
    },
    segment::position,
    wr::{
        Burst,
        Payload,
        Transmit, //
    },
};
use crate::{
    types::{
        Msn,
        Psn,
        Rkey, //
    },
    wire::{
        aeth::{
            Aeth,
            Syndrome, //
        },
        packet::{
            Op,
            Position, //
        },
    },
};
use core::ops::DerefMut;

/// The credit code of a responder that does not count its receive requests.
pub(super) const NO_LIMIT: u8 = 31;

/// What a kept request is answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing but that it is done.
    #[default]
    Done,
    /// What the memory held before.
    Value(u64),
    /// Memory.
    Memory {
        rkey: Rkey,
        address: u64,
        length: u32,
    },
}

/// A kept request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resource {
    psn: Psn,
    packets: u32,
    msn: Msn,
    answer: Answer,
    /// The answer's first time.
    first: Due,
}

impl Resource {
    pub(super) const fn new(psn: Psn, packets: u32, msn: Msn, answer: Answer) -> Self {
        Self {
            psn,
            packets,
            msn,
            answer,
            first: Due::new(0, packets),
        }
    }
}

/// The kept requests, oldest first, in a ring that the driver provides.
pub(super) struct Resources<R> {
    ring: R,
    mask: u32,
    /// Counts without end; the newest is the one before `end`.
    end: u32,
    used: u32,
    /// The one being answered for the first time.
    current: Option<u32>,
    /// What is to be answered once more; before all else.
    repeats: Repeats,
    /// The repetition to which the last packets belonged, if they did.
    repeating: Option<Repeat>,
}

impl<R: DerefMut<Target = [Resource]>> Resources<R> {
    /// None unless the length is 0 or a power of two.
    pub(super) fn new(ring: R) -> Option<Self> {
        let len = u32::try_from(ring.len()).ok()?;
        if len != 0 && !len.is_power_of_two() {
            return None;
        }
        Some(Self {
            ring,
            mask: len.wrapping_sub(1),
            end: 0,
            used: 0,
            current: None,
            repeats: Repeats::new(),
            repeating: None,
        })
    }

    pub(super) fn capacity(&self) -> u32 {
        self.mask.wrapping_add(1)
    }

    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.current = None;
        self.repeats.clear();
        self.repeating = None;
    }

    fn get(&mut self, count: u32) -> Option<&mut Resource> {
        if self.capacity() == 0 {
            return None;
        }
        self.ring.get_mut((count & self.mask) as usize)
    }

    fn oldest(&self) -> u32 {
        self.end.wrapping_sub(self.used)
    }

    /// Makes room for another request, in place of the oldest if `depth` are kept; false if that
    /// has not been answered yet: the peer has more under way than it was allowed.
    #[must_use]
    pub(super) fn make_room(&mut self, depth: u32) -> bool {
        let depth = depth.min(self.capacity());
        if depth == 0 {
            return false;
        }
        while self.used >= depth {
            let oldest = self.oldest();
            if self.get(oldest).is_some_and(|kept| kept.first.is_pending()) {
                return false;
            }
            self.used = self.used.saturating_sub(1);
            self.repeats.forget(oldest, |_| true);
        }
        true
    }

    /// Keeps a request; [`Self::make_room`] was asked before.
    pub(super) fn keep(&mut self, resource: Resource) {
        let count = self.end;
        if let Some(place) = self.get(count) {
            *place = resource;
        }
        self.end = count.wrapping_add(1);
        self.used = self.used.saturating_add(1);
        if self.current.is_none() {
            self.current = Some(count);
        }
    }

    /// The oldest whose answer is due for the first time.
    fn seek(&mut self) {
        let mut count = self.oldest();
        self.current = None;
        while count != self.end {
            if self.get(count).is_some_and(|kept| kept.first.is_pending()) {
                self.current = Some(count);
                return;
            }
            count = count.wrapping_add(1);
        }
    }

    /// The kept request to which a number belongs, and which of its packets it is.
    fn find(&mut self, psn: Psn) -> Option<(u32, u32)> {
        let mut count = self.end;
        for _ in 0..self.used {
            count = count.wrapping_sub(1);
            let kept = self.get(count)?;
            if !psn.is_before(kept.psn) {
                let number = psn.count_since(kept.psn);
                return (number < kept.packets).then_some((count, number));
            }
        }
        None
    }

    /// A READ came again, perhaps for a part. Anything but a part of what is kept is ignored.
    pub(super) fn repeat_read(
        &mut self,
        psn: Psn,
        wanted: (Rkey, u64, u32),
        context: &Context,
    ) -> bool {
        let Some((count, number)) = self.find(psn) else {
            return false;
        };
        let mtu = context.attributes.path_mtu;
        let Some(kept) = self.get(count) else {
            return false;
        };
        let Answer::Memory {
            rkey,
            address,
            length,
        } = kept.answer
        else {
            return false;
        };
        let offset = number.wrapping_shl(mtu.shift());
        let part = mtu.packets(wanted.2);
        let end = number.saturating_add(part);
        // What is asked for ends where the whole ended, or at least a packet.
        let rest = length.saturating_sub(offset);
        let whole_packets = wanted.2 != 0 && wanted.2 & mtu.bytes().wrapping_sub(1) == 0;
        if wanted.0 != rkey
            || wanted.1 != address.wrapping_add(u64::from(offset))
            || !(wanted.2 == rest || (whole_packets && end < kept.packets))
        {
            return false;
        }
        if kept.first.is_pending() && number <= kept.first.next && end >= kept.packets {
            // All that is still to come and more.
            kept.first = Due::new(number, end);
            self.repeats.forget(count, |_| true);
        } else if !kept.first.is_pending() || number < kept.first.next {
            let packets = kept.packets;
            self.repeats.add(count, Due::new(number, end), packets);
        }
        true
    }

    /// An atomic, a FLUSH or an ATOMIC WRITE came again; true if it is known.
    pub(super) fn repeat(&mut self, psn: Psn, atomic: bool) -> bool {
        let Some((count, _)) = self.find(psn) else {
            return false;
        };
        let Some(kept) = self.get(count) else {
            return false;
        };
        let fits = match kept.answer {
            Answer::Done => !atomic,
            Answer::Value(_) => atomic,
            Answer::Memory { .. } => false,
        };
        if fits && !kept.first.is_pending() {
            self.repeats.add(count, Due::new(0, 1), 1);
        }
        fits
    }

    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.current.is_some() || !self.repeats.is_empty()
    }

    /// The next packets of the answers, `most` at most: what is due once more, then the oldest
    /// request's.
    pub(super) fn poll(&mut self, most: u32, context: &Context) -> Option<Burst> {
        self.repeating = self.repeats.first(self.oldest());
        if let Some(mut repeat) = self.repeating {
            let (number, position, packets) = repeat.due.take(most);
            self.repeats.advance(repeat);
            let kept = self.get(repeat.count)?;
            return Some(Burst::new(kept.packet(number, position, context), packets));
        }
        let kept = self.get(self.current?)?;
        let (number, position, packets) = kept.first.take(most);
        let burst = Burst::new(kept.packet(number, position, context), packets);
        if !kept.first.is_pending() {
            self.seek();
        }
        Some(burst)
    }

    /// The memory of an answer's packet could not be read: that packet is due again, if `later`;
    /// otherwise nothing of its answer is. True if this was its first time.
    pub(super) fn take_back(&mut self, psn: Psn, later: bool) -> bool {
        let repeating = self.repeating.take();
        let Some((count, number)) = self.find(psn) else {
            return false;
        };
        if let Some(mut repeat) = repeating {
            repeat.due.next = if later { number } else { repeat.due.to };
            self.repeats.advance(repeat);
            return false;
        }
        if let Some(kept) = self.get(count) {
            let due = &mut kept.first;
            due.next = if later { number } else { due.to };
        }
        self.seek();
        true
    }
}

impl Due {
    /// Takes the next packets, `most` at most: the first one's number, its position, how many.
    fn take(&mut self, most: u32) -> (u32, Position, u32) {
        let number = self.next;
        let left = self.to.saturating_sub(number);
        let position = position(number.wrapping_sub(self.start), left == 1);
        let packets = match position {
            Position::Middle => most.min(left.saturating_sub(1)).max(1),
            _ => 1,
        };
        self.next = number.wrapping_add(packets);
        (number, position, packets)
    }
}

impl Resource {
    /// One packet of the answer.
    fn packet(&self, number: u32, position: Position, context: &Context) -> Transmit {
        let psn = self.psn.plus(number);
        let aeth = Aeth {
            syndrome: Syndrome::Ack(NO_LIMIT),
            msn: self.msn,
        };
        let mut bytes = 0;
        let mut payload = Payload::None;
        let op = match self.answer {
            Answer::Value(value) => Op::AtomicAcknowledge(aeth, value),
            Answer::Done => Op::ReadResponseOnly(aeth),
            Answer::Memory {
                rkey,
                address,
                length,
            } => {
                let mtu = context.attributes.path_mtu;
                let offset = number.wrapping_shl(mtu.shift());
                bytes = length.saturating_sub(offset).min(mtu.bytes());
                if bytes != 0 {
                    payload = Payload::Remote {
                        rkey,
                        address: address.wrapping_add(u64::from(offset)),
                    };
                }
                match position {
                    Position::First => Op::ReadResponseFirst(aeth),
                    Position::Middle => Op::ReadResponseMiddle,
                    Position::Last => Op::ReadResponseLast(aeth),
                    Position::Only => Op::ReadResponseOnly(aeth),
                }
            }
        };
        Transmit {
            packet: context.packet(op, psn, bytes),
            payload,
        }
    }
}
