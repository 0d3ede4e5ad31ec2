// SPDX-License-Identifier: GPL-2.0

//! A peer's responder: what each request does.

use super::{
    Answer,
    Incoming,
    Kept,
    Reading,
    Resource,
    Responder,
    Stop, //
};
use crate::{
    peers::model::Frame,
    port::Port, //
};
use oxe_proto::{
    transport::{
        error::WcStatus,
        ports::{
            Atomic,
            Env,
            Right,
            Taken, //
        },
        wr::{
            RecvCompletion,
            RecvKind, //
        },
    },
    types::Rkey,
    wire::{
        aeth::NakCode,
        packet::{
            Addressing,
            Op,
            Packet,
            Tail, //
        },
        reth::Reth, //
    },
};

impl Responder {
    pub(super) fn execute(
        &mut self,
        frame: &Frame,
        number: u64,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Result<(), Stop> {
        let incoming = self.incoming.unwrap_or(Incoming::Nothing);
        let idle = incoming == Incoming::Nothing;
        let access = &frame.attributes.access;
        let bad = Err(Stop::Refuse(NakCode::InvalidRequest));
        match (packet.op, incoming) {
            (Op::SendFirst | Op::SendOnly(_), Incoming::Nothing) => {
                self.send(frame, 0, packet, data, port)
            }
            (Op::SendMiddle | Op::SendLast(_), Incoming::Send(here)) => {
                self.send(frame, here, packet, data, port)
            }
            (Op::WriteFirst(reth) | Op::WriteOnly(reth, _), Incoming::Nothing)
                if access.remote_write =>
            {
                if reth.length > 0 {
                    port.check_remote(reth.rkey, reth.address, reth.length, Right::Write)?;
                }
                let begun = (reth.rkey, reth.address, reth.length);
                self.write(frame, begun, packet, data, port)
            }
            (
                Op::WriteMiddle | Op::WriteLast(_),
                Incoming::Write {
                    rkey,
                    address,
                    left,
                },
            ) => self.write(frame, (rkey, address, left), packet, data, port),
            (Op::ReadRequest(reth), _) if idle && access.remote_read => {
                if reth.length > 0 {
                    port.check_remote(reth.rkey, reth.address, reth.length, Right::Read)?;
                }
                let packets = u64::from(frame.attributes.path_mtu.packets(reth.length));
                self.keep(frame, number, packets, Kept::Read(reth));
                self.msn = self.msn.next();
                self.answer_read(number, &reth);
                Ok(())
            }
            (Op::CompareSwap(atomic) | Op::FetchAdd(atomic), _) if idle && access.remote_atomic => {
                if atomic.address % 8 != 0 {
                    return bad;
                }
                let operation = match packet.op {
                    Op::CompareSwap(_) => Atomic::CompareSwap {
                        compare: atomic.compare,
                        swap: atomic.swap_add,
                    },
                    _ => Atomic::FetchAdd {
                        add: atomic.swap_add,
                    },
                };
                let before = port.atomic(atomic.rkey, atomic.address, operation)?;
                self.keep(frame, number, 1, Kept::Atomic(before));
                self.msn = self.msn.next();
                self.answers.push_back(Answer::Value(number, before));
                Ok(())
            }
            (Op::Flush(feth, reth), _) if idle => {
                port.flush(reth.rkey, reth.address, reth.length, feth)?;
                self.did(frame, number);
                Ok(())
            }
            (Op::AtomicWrite(reth), _) if idle && access.remote_write => {
                port.atomic_write(reth.rkey, reth.address, data)?;
                self.did(frame, number);
                Ok(())
            }
            _ => bad,
        }
    }

    fn did(&mut self, frame: &Frame, number: u64) {
        self.keep(frame, number, 1, Kept::Done);
        self.msn = self.msn.next();
        self.answers.push_back(Answer::Done(number));
    }

    fn keep(&mut self, frame: &Frame, first: u64, packets: u64, kept: Kept) {
        let depth = usize::from(frame.attributes.max_dest_rd_atomic).max(1);
        while self.resources.len() >= depth {
            self.resources.pop_front();
        }
        self.resources.push_back(Resource {
            first,
            packets,
            kept,
        });
    }

    pub(super) fn answer_read(&mut self, number: u64, reth: &Reth) {
        self.reading = Some(Reading {
            rkey: reth.rkey,
            address: reth.address,
            left: reth.length,
            number,
            begins: true,
            again: number < self.expected,
        });
    }

    fn take_receive(&mut self, packet: &Packet, port: &mut Port<'_>) -> Result<u32, Stop> {
        if let Some(capacity) = self.receive {
            return Ok(capacity);
        }
        let srq = match packet.addressing {
            Addressing::SharedQueue(number) => Some(number),
            _ => None,
        };
        match port.take_receive(srq) {
            Taken::Ready { capacity } => {
                self.receive = Some(capacity);
                Ok(capacity)
            }
            Taken::Empty => Err(Stop::NotReady),
            Taken::Faulty(_) => Err(Stop::Refuse(NakCode::RemoteOperational)),
        }
    }

    fn send(
        &mut self,
        frame: &Frame,
        here: u32,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Result<(), Stop> {
        let capacity = self.take_receive(packet, port)?;
        let end = here + packet.data_bytes;
        if end > capacity {
            return Err(Stop::Refuse(NakCode::InvalidRequest));
        }
        if !data.is_empty() {
            port.place_receive(here, data)?;
        }
        self.incoming = Some(Incoming::Send(end));
        if let Op::SendLast(tail) | Op::SendOnly(tail) = packet.op {
            if let Tail::Invalidate(rkey) = tail {
                port.invalidate(rkey)?;
            }
            self.finish(frame, packet, RecvKind::Send, end, tail, port);
        }
        Ok(())
    }

    fn write(
        &mut self,
        frame: &Frame,
        (rkey, address, left): (Rkey, u64, u32),
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Result<(), Stop> {
        if packet.data_bytes > left {
            return Err(Stop::Refuse(NakCode::InvalidRequest));
        }
        let immediate = match packet.op {
            Op::WriteLast(immediate) | Op::WriteOnly(_, immediate) => immediate,
            _ => None,
        };
        if immediate.is_some() {
            self.take_receive(packet, port)?;
        }
        if !data.is_empty() {
            port.write_remote(rkey, address, data)?;
        }
        let rest = left - packet.data_bytes;
        self.incoming = Some(Incoming::Write {
            rkey,
            address: address.wrapping_add(u64::from(packet.data_bytes)),
            left: rest,
        });
        if matches!(packet.op, Op::WriteLast(_) | Op::WriteOnly(..)) {
            if rest > 0 {
                return Err(Stop::Refuse(NakCode::InvalidRequest));
            }
            match immediate {
                Some(immediate) => {
                    let kind = RecvKind::WriteWithImmediate;
                    let tail = Tail::Immediate(immediate);
                    // The bytes of the whole message: the inspector has counted them.
                    let bytes = self.inspector.message_bytes();
                    self.finish(frame, packet, kind, bytes, tail, port);
                }
                None => {
                    self.msn = self.msn.next();
                    self.incoming = None;
                    self.inspector.message_ends();
                }
            }
        } else if let Op::WriteFirst(_) | Op::WriteMiddle = packet.op {
            self.inspector.message_grows(packet.data_bytes);
        }
        Ok(())
    }

    fn finish(
        &mut self,
        frame: &Frame,
        packet: &Packet,
        kind: RecvKind,
        bytes: u32,
        tail: Tail,
        port: &mut Port<'_>,
    ) {
        let bytes = match kind {
            RecvKind::Send => bytes,
            RecvKind::WriteWithImmediate => bytes + packet.data_bytes,
        };
        self.msn = self.msn.next();
        self.incoming = None;
        self.inspector.message_ends();
        self.receive = None;
        port.complete_receive(RecvCompletion {
            status: WcStatus::Success,
            kind,
            bytes,
            tail,
            solicited: packet.solicited,
            source_qp: frame.attributes.dest_qp,
        });
    }
}
