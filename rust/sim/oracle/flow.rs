// SPDX-License-Identifier: GPL-2.0

//! What one queue pair sends to another one, from connection to connection.

use super::{
    image::Image,
    message::Message, //
};
use crate::work::{
    Outlook,
    Posted, //
};
use oxe_proto::{
    transport::{
        attributes::Attributes,
        error::WcStatus,
        wr::SendOp, //
    },
    types::{
        Psn,
        Qpn, //
    },
    wire::{
        aeth::{
            NakCode,
            Syndrome, //
        },
        packet::{
            Op,
            Packet,
            Service, //
        },
    },
};

/// Packets and bytes that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Request packets.
    pub requests: u64,
    /// Request packets that had been sent before, or asked again for what had been asked for.
    pub repeated: u64,
    /// Response packets, acknowledgements included.
    pub responses: u64,
    /// READ response packets.
    pub read_responses: u64,
    /// Requests that ended well.
    pub messages: u64,
    /// Bytes of data that those carried.
    pub bytes: u64,
}

impl Stats {
    /// Adds another count.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.repeated += other.repeated;
        self.responses += other.responses;
        self.read_responses += other.read_responses;
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// What is known of a flow when it is connected.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// The requester's queue pair.
    pub from: usize,
    /// The responder's queue pair; none for datagrams.
    pub to: Option<usize>,
    /// Transport service.
    pub service: Service,
    /// The requester's number in packets.
    pub number: Qpn,
    /// The requester's attributes.
    pub attributes: Attributes,
    /// The network doubles packets or lets them overtake each other. Unreliable messages may then
    /// be received twice or late: their responder begins anew at whatever number begins a message.
    pub may_repeat: bool,
    /// The region (host and key) that only this flow changes.
    pub target: Option<(usize, u32)>,
}

/// How a responder refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Which message.
    pub(super) message: usize,
    pub(super) code: NakCode,
}

#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) plan: FlowPlan,
    pub(super) messages: Vec<Message>,
    /// Sequence numbers of all messages.
    pub(super) numbers: u64,
    /// The first number that was never sent.
    pub(super) high: u64,
    /// Messages that have ended.
    pub(super) completed: usize,
    /// The first that failed.
    pub(super) failed: Option<(usize, WcStatus)>,
    /// Everything before it is acknowledged by a response that has arrived.
    pub(super) acked: u64,
    /// Everything before it is acknowledged, and answered if it wants an answer.
    pub(super) settled: u64,
    /// Losses and the like since `settled` moved.
    pub(super) disturbances: u64,
    /// Losses and the like in all.
    pub(super) ever_disturbed: bool,
    /// Receiver-not-ready answers that have arrived since `settled` moved, and before.
    pub(super) rnr_arrived: u32,
    pub(super) rnr_before: u32,
    pub(super) peer_lost: bool,
    /// Requests that failed for a fault of the own memory, by number.
    pub(super) local_faults: Vec<(u64, WcStatus)>,
    /// The message that the responder is at, and bytes of it that are done.
    pub(super) cursor: usize,
    pub(super) progress: u32,
    /// The last message for which a receive request was taken that is too short.
    pub(super) too_long: Option<usize>,
    /// The packet that had an effect last, of an unreliable connection.
    pub(super) at_packet: Option<u64>,
    pub(super) refusal: Option<Refusal>,
    /// The responder's own faults, which the requester must not see as its own.
    pub(super) responder_faults: Vec<NakCode>,
    /// What the target holds once all that was posted is done.
    pub(super) image: Option<Image>,
    /// READs that later requests may change the answer of.
    pub(super) open_reads: Vec<usize>,
    pub(super) stats: Stats,
}

impl Flow {
    pub(super) fn new(plan: FlowPlan, image: Option<Image>) -> Self {
        Self {
            plan,
            messages: Vec::new(),
            numbers: 0,
            high: 0,
            completed: 0,
            failed: None,
            acked: 0,
            disturbances: 0,
            ever_disturbed: false,
            settled: 0,
            rnr_arrived: 0,
            rnr_before: 0,
            peer_lost: false,
            local_faults: Vec::new(),
            cursor: 0,
            progress: 0,
            too_long: None,
            at_packet: None,
            refusal: None,
            responder_faults: Vec::new(),
            image,
            open_reads: Vec::new(),
            stats: Stats::default(),
        }
    }

    pub(super) fn is_reliable(&self) -> bool {
        matches!(self.plan.service, Service::Rc | Service::Xrc)
    }

    /// The count of a sequence number, near the newest one sent.
    pub(super) fn count(&self, psn: Psn) -> Option<u64> {
        let near = self
            .plan
            .attributes
            .sq_psn
            .plus((self.high & 0xff_ffff) as u32);
        self.high.checked_add_signed(i64::from(psn.since(near)))
    }

    /// The message that a number belongs to.
    pub(super) fn find(&self, count: u64) -> Option<usize> {
        if count >= self.numbers {
            return None;
        }
        let after = self
            .messages
            .partition_point(|message| message.first <= count);
        // Messages without numbers share the next one's first.
        after.checked_sub(1)
    }

    /// The message that a packet belongs to, and which of its packets it is.
    pub(super) fn locate(&self, psn: Psn) -> Option<(usize, u32)> {
        let count = self.count(psn)?;
        let index = self.find(count)?;
        Some((index, (count - self.messages[index].first) as u32))
    }

    /// A request is added.
    pub(super) fn add(&mut self, posted: Posted) {
        let mut message = Message::new(posted, self.numbers, self.plan.attributes.path_mtu);
        if matches!(posted.outlook, Outlook::Fails(_)) {
            message.packets = 0;
        }
        self.numbers += u64::from(message.packets);
        self.messages.push(message);
    }

    /// An unreliable queue pair sends again after a failure: what was flushed has no numbers.
    pub(super) fn resume(&mut self) {
        let Some((failed, _)) = self.failed.take() else {
            return;
        };
        for message in &mut self.messages[failed..] {
            message.packets = self.high.saturating_sub(message.first) as u32;
            message.first = message.first.min(self.high);
        }
        self.numbers = self.high;
    }

    /// The first message that was begun and has no answer.
    pub(super) fn started_and_unanswered(&self) -> Option<usize> {
        (self.completed..self.messages.len()).find(|&index| {
            let message = &self.messages[index];
            let open = if message.posted.wants_response() {
                !message.is_answered()
            } else {
                self.is_reliable() && message.last() >= self.acked
            };
            message.started && message.packets > 0 && open
        })
    }

    /// A request packet has reached the responder.
    pub(super) fn request_arrived(&mut self, psn: Psn) {
        if let Some((index, _)) = self.locate(psn) {
            self.messages[index].arrived = true;
            self.messages[index].copies += 1;
        }
    }

    /// A response has reached the requester.
    pub(super) fn response_arrived(&mut self, packet: &Packet) {
        let Some(count) = self.count(packet.psn) else {
            return;
        };
        let acked = match packet.op {
            Op::Acknowledge(aeth) => match aeth.syndrome {
                Syndrome::Ack(_) => count + 1,
                Syndrome::RnrNak(_) | Syndrome::Nak(_) => count,
                Syndrome::Reserved(_) => return,
            },
            _ => count + 1,
        };
        if !matches!(packet.op, Op::Acknowledge(_)) {
            if let Some(index) = self.find(count) {
                self.messages[index].response_arrived = true;
            }
        }
        if acked > self.acked && acked <= self.numbers {
            self.acked = acked;
            self.note_progress();
        }
        let not_ready = match packet.op {
            Op::Acknowledge(aeth) => matches!(aeth.syndrome, Syndrome::RnrNak(_)),
            _ => false,
        };
        if not_ready {
            self.rnr_arrived += 1;
        }
    }

    /// Something was acknowledged or answered: have all retries begun anew?
    pub(super) fn note_progress(&mut self) {
        let mut settled = self.acked;
        for message in &self.messages[self.completed..] {
            if message.first >= settled {
                break;
            }
            if message.posted.wants_response() && !message.is_answered() {
                let got = message.got.iter().take_while(|&&got| got).count();
                settled = message.first + got as u64;
                break;
            }
        }
        if settled > self.settled {
            self.settled = settled;
            self.disturbances = 0;
            self.rnr_before = self.rnr_arrived;
            self.rnr_arrived = 0;
        }
    }

    /// Moves the responder's cursor over messages that show nothing when they are done.
    pub(super) fn settle(&mut self) {
        while let Some(message) = self.messages.get_mut(self.cursor) {
            let local = matches!(message.posted.wr.op, SendOp::Local);
            let refused = matches!(
                message.posted.outlook,
                Outlook::Refused(_) | Outlook::Fails(_)
            );
            if !message.is_silent() || refused || !(message.arrived || local) {
                break;
            }
            message.executed = true;
            self.cursor += 1;
            self.progress = 0;
        }
    }

    /// An unreliable connection's packet has an effect: its message is the one that the responder
    /// is at. None if it was done before and may not be done again.
    pub(super) fn begins(&mut self, index: usize, packet: u32, serial: u64) -> Option<()> {
        let again = index < self.cursor || self.messages[index].executed;
        let anew = index == self.cursor && packet == 0 && self.progress > 0;
        if self.at_packet.replace(serial) == Some(serial) {
            // Another effect of the same packet.
            return Some(());
        }
        if again && !self.plan.may_repeat {
            return None;
        }
        if index > self.cursor || (again || anew) && packet == 0 {
            self.messages[index].executed = false;
            self.cursor = index;
            self.progress = 0;
        }
        Some(())
    }

    /// Whether there was no receive request for a number's message at some time.
    pub(super) fn was_starved(&self, count: u64) -> bool {
        let index = self.find(count);
        index.is_some_and(|index| self.messages[index].starved)
    }

    /// The next number that the responder expects.
    pub(super) fn expected(&self) -> u64 {
        match self.messages.get(self.cursor) {
            Some(message) => {
                let mtu = self.plan.attributes.path_mtu;
                let whole = self.progress >> mtu.shift();
                message.first + u64::from(whole.min(message.packets.saturating_sub(1)))
            }
            None => self.numbers,
        }
    }

    /// Messages that are done, at least and at most: nobody sees when those are that show nothing.
    pub(super) fn finished(&self) -> (usize, usize) {
        let shown = self.messages[..self.cursor]
            .iter()
            .rposition(|message| !message.is_silent())
            .map_or(0, |index| index + 1);
        (shown, self.cursor)
    }
}
