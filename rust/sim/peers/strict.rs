// SPDX-License-Identifier: GPL-2.0

//! What no requester may send, as far as a responder can tell.

use super::model::Frame;
use oxe_proto::wire::packet::{
    Op,
    Packet, //
};

/// Packets in a row without a wish for an acknowledgement, at most.
const QUIET_LIMIT: u32 = 512;

/// Numbers ahead of the one that is due, at most: what any window can hold.
const FAR_AHEAD: u64 = 1 << 22;

/// Where in its message the last new packet in order was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    Send,
    Write,
}

/// Looks at each packet that comes.
#[derive(Default)]
pub(super) struct Inspector {
    /// The number after the last that was looked at in order.
    next: u64,
    within: Within,
    quiet: u32,
    /// Bytes of the WRITE that is coming in.
    grown: u32,
}

impl Inspector {
    /// Bytes of the WRITE that is coming in, but for its last packet.
    pub(super) fn message_bytes(&self) -> u32 {
        self.grown
    }

    pub(super) fn message_grows(&mut self, bytes: u32) {
        self.grown += bytes;
    }

    pub(super) fn message_ends(&mut self) {
        self.grown = 0;
    }

    /// What is wrong with a packet, if anything is.
    pub(super) fn inspect(
        &mut self,
        frame: &Frame,
        number: u64,
        packet: &Packet,
        bytes: usize,
        unanswered: usize,
    ) -> Option<String> {
        let wrong = check_alone(frame, packet, bytes);
        if wrong.is_some() {
            return wrong;
        }
        if number > self.next + FAR_AHEAD {
            return Some(format!("{} numbers ahead", number - self.next));
        }
        if number != self.next {
            return None;
        }
        let takes_place = matches!(
            packet.op,
            Op::ReadRequest(_) | Op::CompareSwap(_) | Op::FetchAdd(_)
        );
        let depth = usize::from(frame.attributes.max_dest_rd_atomic);
        if takes_place && unanswered >= depth {
            return Some(format!(
                "{unanswered} READs and atomics are open, {depth} allowed"
            ));
        }
        self.quiet = if packet.ack_req { 0 } else { self.quiet + 1 };
        if self.quiet > QUIET_LIMIT {
            return Some(format!("{} packets without AckReq", self.quiet));
        }
        let span = match packet.op {
            Op::ReadRequest(reth) => u64::from(frame.attributes.path_mtu.packets(reth.length)),
            _ => 1,
        };
        self.next += span;
        self.follow(packet)
    }

    /// Whether a packet may follow the one before it.
    fn follow(&mut self, packet: &Packet) -> Option<String> {
        let (fits, within) = match packet.op {
            Op::SendFirst => (Within::Nothing, Within::Send),
            Op::SendMiddle => (Within::Send, Within::Send),
            Op::SendLast(_) => (Within::Send, Within::Nothing),
            Op::WriteFirst(_) => (Within::Nothing, Within::Write),
            Op::WriteMiddle => (Within::Write, Within::Write),
            Op::WriteLast(_) => (Within::Write, Within::Nothing),
            _ => (Within::Nothing, Within::Nothing),
        };
        let was = std::mem::replace(&mut self.within, within);
        (was != fits).then(|| format!("within {was:?}"))
    }
}

/// What is wrong with a packet whatever came before it.
fn check_alone(frame: &Frame, packet: &Packet, bytes: usize) -> Option<String> {
    let mtu = frame.attributes.path_mtu.bytes();
    let length = packet.data_bytes;
    if bytes != length as usize {
        return Some(format!("{bytes} bytes of data, {length} told"));
    }
    if !packet.pkey.admits(frame.attributes.pkey) {
        return Some("partition key".into());
    }
    let (fits, ends) = match packet.op {
        Op::SendFirst | Op::SendMiddle | Op::WriteMiddle => (length == mtu, false),
        Op::WriteFirst(reth) => (length == mtu && reth.length > mtu, false),
        Op::SendLast(_) | Op::WriteLast(_) => ((1..=mtu).contains(&length), true),
        Op::SendOnly(_) => (length <= mtu, true),
        Op::WriteOnly(reth, _) => (length <= mtu && reth.length == length, true),
        Op::AtomicWrite(reth) => (length == 8 && reth.length == 8, true),
        Op::ReadRequest(reth) => (length == 0 && reth.length <= 1 << 31, true),
        _ => (length == 0, true),
    };
    if !fits {
        return Some(format!("{length} bytes of data"));
    }
    let may_solicit = matches!(
        packet.op,
        Op::SendLast(_) | Op::SendOnly(_) | Op::WriteLast(Some(_)) | Op::WriteOnly(_, Some(_))
    );
    (packet.solicited && !(ends && may_solicit)).then(|| "solicited".into())
}
