// SPDX-License-Identifier: GPL-2.0

//! What the engine asks of a queue pair's surroundings: memory, receive queue, completions.
//!
//! Context: process or softirq, with the queue pair's lock held.

use super::{
    data,
    Current,
    Data,
    Receives,
    Side, //
};
use crate::{
    datagrams::network_header,
    mr::Remote, //
};
use kernel_ext::rdma::{
    AtomicOp,
    DatagramSource,
    Network, //
};
use oxe_proto::{
    memory::RemoteUse,
    transport::{
        error::{
            Fault,
            WcStatus, //
        },
        ports::{
            Atomic,
            Env,
            Observation,
            Right,
            Taken, //
        },
        wr::{
            RecvCompletion,
            SlotIndex, //
        }, //
    },
    types::{
        Qpn,
        Rkey,
        SrqNumber, //
    },
    wire::flush::Feth, //
};
use oxe_uabi::{
    cqe::Cqe,
    recv::RecvElement, //
};

/// What the kernel's users are told of where a datagram came from.
fn source(data: Data<'_>) -> Option<DatagramSource> {
    let network = if data.skb.network_header_v6().is_some() {
        Network::V6
    } else {
        Network::V4
    };
    Some(DatagramSource {
        network,
        vlan: data.vlan,
        mac: data.skb.source_mac(),
    })
}

/// A queue pair's side, and the packet that is being handled, if one is.
pub(super) struct Port<'a> {
    pub(super) side: &'a mut Side,
    pub(super) packet: Option<Data<'a>>,
}

impl Port<'_> {
    fn remote(&self) -> Remote<'_> {
        Remote {
            link: &self.side.link,
            pd: self.side.pd,
            qp: self.side.id,
        }
    }
}

impl Env for Port<'_> {
    type Data<'d> = Data<'d>;

    fn check_remote(
        &mut self,
        rkey: Rkey,
        address: u64,
        length: u32,
        right: Right,
    ) -> Result<(), Fault> {
        let using = match right {
            Right::Read => RemoteUse::Read,
            Right::Write => RemoteUse::Write,
        };
        self.remote()
            .with(rkey, address, length.into(), using, |_, _| Ok(()))
    }

    fn write_remote(&mut self, rkey: Rkey, address: u64, data: Data<'_>) -> Result<(), Fault> {
        let length = data.length;
        self.remote().with(
            rkey,
            address,
            length.into(),
            RemoteUse::Write,
            |memory, place| {
                memory.copy_from_skb(place.offset, data.skb, data.offset, length as usize)
            },
        )
    }

    fn atomic(&mut self, rkey: Rkey, address: u64, operation: Atomic) -> Result<u64, Fault> {
        let operation = match operation {
            Atomic::CompareSwap { compare, swap } => AtomicOp::CompareSwap { compare, swap },
            Atomic::FetchAdd { add } => AtomicOp::FetchAdd(add),
        };
        self.remote()
            .with(rkey, address, 8, RemoteUse::Atomic, |memory, place| {
                memory.atomic64(place.offset, operation)
            })
    }

    fn atomic_write(&mut self, rkey: Rkey, address: u64, data: Data<'_>) -> Result<(), Fault> {
        let mut value = [0; 8];
        data.skb
            .copy_bits(data.offset, &mut value)
            .map_err(|_| Fault::Operational)?;
        self.remote()
            .with(rkey, address, 8, RemoteUse::Write, |memory, place| {
                memory.write_u64_atomic(place.offset, u64::from_ne_bytes(value))
            })
    }

    fn flush(&mut self, rkey: Rkey, address: u64, length: u32, feth: Feth) -> Result<(), Fault> {
        self.remote().flush(rkey, address, length, feth)
    }

    fn invalidate(&mut self, _rkey: Rkey) -> Result<(), Fault> {
        // Neither windows nor fast registrations exist: no key can be invalidated.
        Err(Fault::Access)
    }

    fn take_receive(&mut self, _srq: Option<SrqNumber>) -> Taken {
        let side = &mut *self.side;
        let ring = match &mut side.receives {
            Receives::Shared(ring) => ring,
            Receives::Posted(posts) => {
                return posts.take(&mut side.current_list, &mut side.current);
            }
        };
        let Some(raw) = ring.peek() else {
            return Taken::Empty;
        };
        let element = RecvElement::parse(raw);
        let (mut count, mut taken) = match &element.buffers {
            Ok(buffers) => {
                let mut count = 0;
                for (place, sge) in side.current_list.iter_mut().zip(buffers.sges.clone()) {
                    *place = sge;
                    count += 1;
                }
                let capacity = buffers.capacity;
                (count, Taken::Ready { capacity })
            }
            Err(status) => (0, Taken::Faulty(*status)),
        };
        if element
            .buffers
            .as_ref()
            .is_ok_and(|buffers| buffers.sges.len() > count)
        {
            // More than the queue pair was made for.
            (count, taken) = (0, Taken::Faulty(WcStatus::LocalQpOperation));
        }
        side.current = Some(Current {
            wr_id: element.wr_id,
            count,
        });
        ring.take();
        taken
    }

    fn place_receive(&mut self, offset: u32, data: Data<'_>) -> Result<(), Fault> {
        let side = &*self.side;
        data::scatter(&side.link, side.pd, side.current_sges(), offset, data)
    }

    fn place_network_header(&mut self) -> Result<(), Fault> {
        let side = &*self.side;
        let header = self
            .packet
            .and_then(|data| network_header(data.skb, data.part))
            .ok_or(Fault::Operational)?;
        data::put(&side.link, side.pd, side.current_sges(), 0, &header)
    }

    fn complete_receive(&mut self, completion: RecvCompletion) {
        let side = &mut *self.side;
        let Some(current) = side.current.take() else {
            return;
        };
        let good = completion.status == WcStatus::Success;
        let opcode = completion.kind.into();
        let mut cqe = Cqe::new(current.wr_id, completion.status, opcode, side.qpn);
        if good {
            cqe.byte_len = completion.bytes;
            cqe.tail = completion.tail;
            cqe.source_qp = completion.source_qp;
            cqe.grh = side.datagram;
            cqe.port = 1;
        }
        let origin = match &side.reference {
            None => None,
            Some(_) if side.datagram && good => side.origin(self.packet.and_then(source)),
            Some(_) => side.origin(None),
        };
        let added = side
            .recv_cq
            .add(&cqe, origin, completion.solicited || !good);
        side.notices.received(added);
    }

    fn place_response(
        &mut self,
        slot: SlotIndex,
        offset: u32,
        data: Data<'_>,
    ) -> Result<(), Fault> {
        let side = &*self.side;
        data::scatter(&side.link, side.pd, side.list(slot), offset, data)
    }

    fn place_value(&mut self, slot: SlotIndex, value: u64) -> Result<(), Fault> {
        let side = &*self.side;
        data::put(
            &side.link,
            side.pd,
            side.list(slot),
            0,
            &value.to_ne_bytes(),
        )
    }

    fn local(&mut self, slot: SlotIndex) -> Result<(), WcStatus> {
        // Windows and fast registrations do not exist: it is no request, or none that can be done.
        let note = self.side.notes.get(slot.0 as usize);
        Err(note
            .and_then(|note| note.refused)
            .unwrap_or(WcStatus::LocalQpOperation))
    }

    fn observe(&mut self, _qpn: Qpn, what: Observation) {
        let counters = &self.side.link.counters;
        match what {
            Observation::DuplicateRequest(_) => counters.duplicate_request.increment(),
            Observation::OutOfSequence { .. } => counters.out_of_seq_request.increment(),
            Observation::RnrReceived(_) => counters.rcvd_rnr_err.increment(),
            Observation::RnrSent(_) => counters.send_rnr_err.increment(),
            Observation::SequenceNakReceived(_) => counters.rcvd_seq_err.increment(),
            Observation::RetriesExceeded(_) => counters.retry_exceeded_err.increment(),
            Observation::RnrRetriesExceeded(_) => counters.retry_rnr_exceeded_err.increment(),
            Observation::AckTimeout(_) | Observation::Probe(_) => {
                counters.completer_retry_err.increment();
            }
            Observation::Retransmitted(_) => counters.retransmitted.increment(),
            _ => {}
        }
    }
}
