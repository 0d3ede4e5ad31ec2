// SPDX-License-Identifier: GPL-2.0

//! The engine under test.

use crate::{
    endpoint::{
        Endpoint,
        Step, //
    },
    port::Port, //
};
use oxe_proto::{
    transport::{
        attributes::{
            Attributes,
            Change,
            Config, //
        },
        error::Fault,
        state::{
            AttributeMask,
            QpType,
            State, //
        },
        wr::{
            Completion,
            EarlyIndex,
            SendWr,
            SlotIndex,
            Transmit, //
        },
        Engine,
        Event,
        PostError,
        Resource,
        SendSlot,
        Storage,
        Verdict, //
    },
    types::Instant,
    wire::packet::Packet, //
};

/// Memory from the host's heap.
struct Heap;

impl Storage for Heap {
    type Send = Vec<SendSlot>;
    type Resources = Vec<Resource>;
}

struct Oxe {
    engine: Engine<Heap>,
    qp_type: QpType,
}

/// An engine in RESET.
pub(super) fn make(config: Config, slots: u32, resources: u8) -> Box<dyn Endpoint> {
    let resources = match resources {
        0 => 0,
        some => usize::from(some).next_power_of_two(),
    };
    let engine = Engine::new(
        config,
        vec![SendSlot::default(); slots as usize],
        vec![Resource::default(); resources],
    );
    Box::new(Oxe {
        engine: engine.expect("storage of the right lengths"),
        qp_type: config.qp_type,
    })
}

/// Several attributes.
fn all(attributes: &[AttributeMask]) -> AttributeMask {
    attributes
        .iter()
        .fold(AttributeMask::NONE, |sum, &one| sum.with(one))
}

impl Oxe {
    /// The attributes that a move needs.
    fn mask(&self, step: Step) -> AttributeMask {
        use AttributeMask as A;
        let reliable = self.qp_type.is_reliable();
        match (step, self.qp_type) {
            (Step::Init, QpType::Ud | QpType::Gsi) => all(&[A::PKEY, A::PORT, A::QKEY]),
            (Step::Init, _) => all(&[A::PKEY, A::PORT, A::ACCESS]),
            (Step::Receive, QpType::Ud | QpType::Gsi) => A::NONE,
            (Step::Receive, qp_type) => {
                let mask = all(&[A::ADDRESS, A::PATH_MTU, A::DEST_QP, A::RQ_PSN]);
                if matches!(qp_type, QpType::Rc | QpType::XrcTgt) {
                    mask.with(all(&[A::MAX_DEST_RD_ATOMIC, A::MIN_RNR_TIMER]))
                } else {
                    mask
                }
            }
            (Step::Send, QpType::XrcTgt) => all(&[A::TIMEOUT, A::SQ_PSN]),
            (Step::Send, _) if reliable => all(&[
                A::TIMEOUT,
                A::RETRY_CNT,
                A::RNR_RETRY,
                A::SQ_PSN,
                A::MAX_RD_ATOMIC,
            ]),
            (Step::Send, _) => A::SQ_PSN,
            (Step::Drain { notify: true }, _) => A::SQ_DRAINED_EVENT,
            _ => A::NONE,
        }
    }
}

impl Endpoint for Oxe {
    fn step(
        &mut self,
        now: Instant,
        step: Step,
        attributes: &Attributes,
        port: &mut Port<'_>,
    ) -> bool {
        let state = match step {
            Step::Init => State::Init,
            Step::Receive => State::Rtr,
            Step::Send | Step::Resume => State::Rts,
            Step::Drain { .. } => State::Sqd,
            Step::Error => State::Err,
            Step::Reset => State::Reset,
        };
        let change = Change {
            state: Some(state),
            current: None,
            mask: self.mask(step),
            attributes: Attributes {
                sq_drained_event: step == Step::Drain { notify: true },
                ..*attributes
            },
        };
        self.engine.modify(now, &change, port).is_ok()
    }

    fn post_send(&mut self, wr: SendWr) -> Result<SlotIndex, PostError> {
        self.engine.post_send(wr)
    }

    fn handle_packet(
        &mut self,
        now: Instant,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Verdict {
        self.engine.handle_packet(now, packet, data, port)
    }

    fn handle_timeout(&mut self, now: Instant, port: &mut Port<'_>) {
        self.engine.handle_timeout(now, port);
    }

    fn poll_early(&mut self) -> Option<EarlyIndex> {
        self.engine.poll_early()
    }

    fn early_lost(&mut self, index: EarlyIndex) {
        self.engine.early_lost(index);
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        most: u32,
        burst: &mut Vec<Transmit>,
        port: &mut Port<'_>,
    ) {
        if most <= 1 {
            burst.extend(self.engine.poll_transmit(now, port));
        } else if let Some(packets) = self.engine.poll_burst(now, most, port) {
            burst.extend((0..packets.count()).map(|number| packets.packet(number)));
        }
    }

    fn payload_fault(
        &mut self,
        now: Instant,
        transmit: &Transmit,
        fault: Fault,
        port: &mut Port<'_>,
    ) {
        self.engine.payload_fault(now, transmit, fault, port);
    }

    fn poll_completion(&mut self) -> Option<Completion> {
        self.engine.poll_completion()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.engine.poll_event()
    }

    fn holds_early(&self) -> bool {
        self.engine.holds_early()
    }

    fn abort(&mut self, port: &mut Port<'_>) {
        self.engine.abort(port);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.engine.next_timeout()
    }
}
