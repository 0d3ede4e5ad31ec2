// SPDX-License-Identifier: GPL-2.0

//! What each request does, whose number is the expected one.
//!
//! A request that cannot be done changes nothing, so that it can come again.

use super::{
    Done,
    Message,
    Refusal,
    Responder, //
};
use crate::{
    transport::{
        context::Context,
        error::{
            Fault,
            WcStatus, //
        },
        ports::{
            Atomic,
            Env,
            Right,
            Taken, //
        },
        resources::{
            Answer,
            Resource, //
        },
        state::QpType,
        wr::{
            RecvCompletion,
            RecvKind, //
        },
    },
    types::{
        Immediate,
        Qpn,
        MAX_MESSAGE_BYTES, //
    },
    wire::{
        aeth::NakCode,
        atomic::AtomicEth,
        flush::Feth,
        packet::{
            Addressing,
            Op,
            Packet,
            Position,
            Tail, //
        },
        reth::Reth,
    },
};
use core::ops::DerefMut;

const INVALID: Refusal = Refusal::Nak(NakCode::InvalidRequest);

/// A packet of a message that goes on.
const PART: Done = Done {
    numbers: 1,
    finished: false,
    answered: false,
};

/// The end of a message.
const END: Done = Done {
    numbers: 1,
    finished: true,
    answered: false,
};

impl Refusal {
    /// Of a fault in memory that the peer named.
    fn remote(fault: Fault) -> Self {
        fault.nak().map_or(Self::Later, Self::Nak)
    }

    /// Of a fault in the receive request's own buffers.
    fn receive(fault: Fault) -> Self {
        fault.local().map_or(Self::Later, Self::Receive)
    }
}

impl<R: DerefMut<Target = [Resource]>> Responder<R> {
    /// Does what the packet asks for.
    #[inline]
    pub(super) fn execute<E: Env>(
        &mut self,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) -> Result<Done, Refusal> {
        match packet.op {
            Op::WriteMiddle => self.write(Position::Middle, None, packet, data, env, context),
            Op::SendMiddle => self.send(Position::Middle, Tail::None, packet, data, env, context),
            Op::SendFirst => self.send(Position::First, Tail::None, packet, data, env, context),
            Op::SendLast(tail) => self.send(Position::Last, tail, packet, data, env, context),
            Op::SendOnly(tail) => self.send(Position::Only, tail, packet, data, env, context),
            Op::WriteFirst(reth) => {
                self.begin_write(Position::First, reth, packet, env, context)?;
                self.write(Position::First, None, packet, data, env, context)
            }
            Op::WriteLast(immediate) => {
                self.write(Position::Last, immediate, packet, data, env, context)
            }
            Op::WriteOnly(reth, immediate) => {
                self.begin_write(Position::Only, reth, packet, env, context)?;
                self.write(Position::Only, immediate, packet, data, env, context)
            }
            _ if !context.config.qp_type.is_reliable() => Err(INVALID),
            Op::ReadRequest(reth) => self.read(reth, packet, env, context),
            Op::CompareSwap(eth) => {
                let operation = Atomic::CompareSwap {
                    compare: eth.compare,
                    swap: eth.swap_add,
                };
                self.atomic(eth, operation, packet, env, context)
            }
            Op::FetchAdd(eth) => {
                let operation = Atomic::FetchAdd { add: eth.swap_add };
                self.atomic(eth, operation, packet, env, context)
            }
            Op::Flush(feth, reth) => self.flush(feth, reth, packet, env, context),
            Op::AtomicWrite(reth) => self.atomic_write(reth, packet, data, env, context),
            _ => Err(INVALID),
        }
    }

    /// Whether the data is as long as it must be at this place of a message (IBTA 9.7.4.1.6).
    fn check_length(position: Position, bytes: u32, context: &Context) -> Result<(), Refusal> {
        let mtu = context.attributes.path_mtu.bytes();
        let right = match position {
            Position::First | Position::Middle => bytes == mtu,
            Position::Last => bytes != 0 && bytes <= mtu,
            Position::Only => bytes <= mtu,
        };
        if right {
            Ok(())
        } else {
            Err(INVALID)
        }
    }

    /// Sees to it that there is a current receive request.
    fn need_receive<E: Env>(
        &mut self,
        packet: &Packet,
        env: &mut E,
        context: &Context,
    ) -> Result<u32, Refusal> {
        if let Some(capacity) = self.receive {
            return Ok(capacity);
        }
        let srq = match (packet.addressing, context.config.qp_type) {
            (Addressing::SharedQueue(srq), QpType::XrcTgt) => Some(srq),
            _ => None,
        };
        match env.take_receive(srq) {
            Taken::Ready { capacity } => {
                self.receive = Some(capacity);
                Ok(capacity)
            }
            Taken::Empty => Err(Refusal::NotReady),
            Taken::Faulty(status) => {
                // It is the current one, so that it ends with the status.
                self.receive = Some(0);
                Err(Refusal::Receive(status))
            }
        }
    }

    /// A packet of a SEND.
    fn send<E: Env>(
        &mut self,
        position: Position,
        tail: Tail,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) -> Result<Done, Refusal> {
        let received = match (self.message, position.is_start()) {
            (Message::Idle, true) => 0,
            (Message::Send { received }, false) => received,
            _ => return Err(INVALID),
        };
        let bytes = packet.data_bytes;
        Self::check_length(position, bytes, context)?;
        let capacity = self.need_receive(packet, env, context)?;
        let total = received.saturating_add(bytes);
        if total > capacity {
            return Err(Refusal::TooLong);
        }
        if total > MAX_MESSAGE_BYTES {
            return Err(INVALID);
        }
        if bytes != 0 {
            env.place_receive(received, data)
                .map_err(Refusal::receive)?;
        }
        if !position.is_end() {
            self.message = Message::Send { received: total };
            return Ok(PART);
        }
        if let Tail::Invalidate(rkey) = tail {
            match env.invalidate(rkey) {
                Ok(()) => {}
                Err(Fault::Busy) => return Err(Refusal::Later),
                Err(_) => return Err(Refusal::Invalidate),
            }
        }
        self.message = Message::Idle;
        self.receive = None;
        env.complete_receive(RecvCompletion {
            status: WcStatus::Success,
            kind: RecvKind::Send,
            bytes: total,
            tail,
            solicited: packet.solicited,
            source_qp: context.attributes.dest_qp,
        });
        Ok(END)
    }

    /// The start of a WRITE: may it be done?
    fn begin_write<E: Env>(
        &mut self,
        position: Position,
        reth: Reth,
        packet: &Packet,
        env: &mut E,
        context: &Context,
    ) -> Result<(), Refusal> {
        let fits = match position {
            Position::Only => reth.length == packet.data_bytes,
            _ => reth.length > packet.data_bytes && reth.length <= MAX_MESSAGE_BYTES,
        };
        let idle = matches!(self.message, Message::Idle);
        if !idle || !context.attributes.access.remote_write || !fits {
            return Err(INVALID);
        }
        Self::check_length(position, packet.data_bytes, context)?;
        if reth.length != 0 {
            env.check_remote(reth.rkey, reth.address, reth.length, Right::Write)
                .map_err(Refusal::remote)?;
        }
        Ok(())
    }

    /// A packet of a WRITE that was allowed.
    #[inline]
    fn write<E: Env>(
        &mut self,
        position: Position,
        immediate: Option<Immediate>,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) -> Result<Done, Refusal> {
        let (rkey, address, length, remaining) = match (packet.op, self.message) {
            (Op::WriteFirst(reth) | Op::WriteOnly(reth, _), Message::Idle) => {
                (reth.rkey, reth.address, reth.length, reth.length)
            }
            (
                Op::WriteMiddle | Op::WriteLast(_),
                Message::Write {
                    rkey,
                    address,
                    length,
                    remaining,
                },
            ) => (rkey, address, length, remaining),
            _ => return Err(INVALID),
        };
        let bytes = packet.data_bytes;
        Self::check_length(position, bytes, context)?;
        // The last packet brings all that remains, no other one does.
        if position.is_end() != (bytes == remaining) || bytes > remaining {
            return Err(INVALID);
        }
        if immediate.is_some() {
            self.need_receive(packet, env, context)?;
        }
        if bytes != 0 {
            env.write_remote(rkey, address, data)
                .map_err(Refusal::remote)?;
        }
        if !position.is_end() {
            self.message = Message::Write {
                rkey,
                address: address.wrapping_add(u64::from(bytes)),
                length,
                remaining: remaining.saturating_sub(bytes),
            };
            return Ok(PART);
        }
        self.message = Message::Idle;
        if let Some(immediate) = immediate {
            self.receive = None;
            env.complete_receive(RecvCompletion {
                status: WcStatus::Success,
                kind: RecvKind::WriteWithImmediate,
                bytes: length,
                tail: Tail::Immediate(immediate),
                solicited: packet.solicited,
                source_qp: context.attributes.dest_qp,
            });
        }
        Ok(END)
    }

    /// Whether a request that has a response may come now.
    fn check_response(&mut self, allowed: bool, context: &Context) -> Result<(), Refusal> {
        let depth = u32::from(context.attributes.max_dest_rd_atomic);
        let idle = matches!(self.message, Message::Idle);
        if !idle || !allowed || !self.resources.make_room(depth) {
            return Err(INVALID);
        }
        Ok(())
    }

    /// Keeps a request that was done, so that it is answered.
    fn keep(&mut self, packets: u32, answer: Answer) -> Done {
        let msn = self.msn.next();
        self.resources
            .keep(Resource::new(self.expected, packets, msn, answer));
        Done {
            numbers: packets,
            finished: true,
            answered: true,
        }
    }

    fn read<E: Env>(
        &mut self,
        reth: Reth,
        packet: &Packet,
        env: &mut E,
        context: &Context,
    ) -> Result<Done, Refusal> {
        self.check_response(context.attributes.access.remote_read, context)?;
        if packet.data_bytes != 0 || reth.length > MAX_MESSAGE_BYTES {
            return Err(INVALID);
        }
        if reth.length != 0 {
            env.check_remote(reth.rkey, reth.address, reth.length, Right::Read)
                .map_err(Refusal::remote)?;
        }
        let answer = Answer::Memory {
            rkey: reth.rkey,
            address: reth.address,
            length: reth.length,
        };
        let packets = context.attributes.path_mtu.packets(reth.length);
        Ok(self.keep(packets, answer))
    }

    fn atomic<E: Env>(
        &mut self,
        eth: AtomicEth,
        operation: Atomic,
        packet: &Packet,
        env: &mut E,
        context: &Context,
    ) -> Result<Done, Refusal> {
        self.check_response(context.attributes.access.remote_atomic, context)?;
        if packet.data_bytes != 0 || eth.address & 7 != 0 {
            return Err(INVALID);
        }
        let value = env
            .atomic(eth.rkey, eth.address, operation)
            .map_err(Refusal::remote)?;
        Ok(self.keep(1, Answer::Value(value)))
    }

    fn flush<E: Env>(
        &mut self,
        feth: Feth,
        reth: Reth,
        packet: &Packet,
        env: &mut E,
        context: &Context,
    ) -> Result<Done, Refusal> {
        let access = context.attributes.access;
        let allowed = (feth.visible || feth.persistent)
            && (!feth.visible || access.flush_global)
            && (!feth.persistent || access.flush_persistent);
        self.check_response(allowed, context)?;
        if packet.data_bytes != 0 {
            return Err(INVALID);
        }
        env.flush(reth.rkey, reth.address, reth.length, feth)
            .map_err(Refusal::remote)?;
        Ok(self.keep(1, Answer::Done))
    }

    fn atomic_write<E: Env>(
        &mut self,
        reth: Reth,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) -> Result<Done, Refusal> {
        self.check_response(context.attributes.access.remote_write, context)?;
        if packet.data_bytes != 8 || reth.length != 8 || reth.address & 7 != 0 {
            return Err(INVALID);
        }
        env.atomic_write(reth.rkey, reth.address, data)
            .map_err(Refusal::remote)?;
        Ok(self.keep(1, Answer::Done))
    }

    /// A datagram's receive completion; see [`super::datagram`].
    pub(super) fn complete_datagram<E: Env>(
        &mut self,
        packet: &Packet,
        tail: Tail,
        bytes: u32,
        source_qp: Qpn,
        env: &mut E,
    ) {
        self.receive = None;
        self.served = true;
        env.complete_receive(RecvCompletion {
            status: WcStatus::Success,
            kind: RecvKind::Send,
            bytes,
            tail,
            solicited: packet.solicited,
            source_qp,
        });
    }

    /// The receive request that a datagram takes.
    pub(super) fn receive_for<E: Env>(
        &mut self,
        packet: &Packet,
        env: &mut E,
        context: &Context,
    ) -> Result<u32, Refusal> {
        self.need_receive(packet, env, context)
    }
}
