// SPDX-License-Identifier: GPL-2.0

//! Whatever a peer sends and a user does, in whatever order: nothing panics, nothing goes on for
//! ever, and everything that was posted ends once, in order.

mod pair;

use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        state::{QpType, State},
        wr::{SendOp, SendWr, SlotIndex},
        PostError,
    },
    types::{Psn, Rkey, Span},
    wire::{
        aeth::{Aeth, Syndrome},
        atomic::AtomicEth,
        flush::Feth,
        packet::{Op, Packet, Tail},
        reth::Reth,
    },
};
use pair::{craft::*, lone::PEER, Lone, Setup, BASE, RKEY};
use proptest::prelude::*;
use std::collections::VecDeque;

/// What a user, a peer or time does.
#[derive(Clone, Debug)]
enum Act {
    /// A packet whose number lies so far from what the receiver or sender waits for.
    Packet {
        op: Op,
        response: bool,
        distance: i32,
        bytes: u16,
        ack_req: bool,
    },
    /// A request, how long, and whether with a fence.
    Post(SendOp, u32, bool),
    PostReceive(u16),
    /// What one of the places that can fail does next.
    Fault(u8, Option<Fault>),
    /// So many microseconds.
    Wait(u32),
    /// Sends up to so many packets.
    Send(u8),
    /// To another state.
    Move(u8),
}

fn memory() -> impl Strategy<Value = Reth> {
    let length = prop_oneof![
        4 => 0..700_u32,
        1 => Just(256),
        1 => Just(8),
        1 => any::<u32>(),
    ];
    let offset = prop_oneof![8 => 0..2000_u64, 4 => Just(0), 1 => any::<u64>()];
    let rkey = prop_oneof![20 => Just(RKEY), 1 => any::<u32>().prop_map(Rkey)];
    (offset, rkey, length).prop_map(|(offset, rkey, length)| Reth {
        address: BASE.wrapping_add(offset),
        rkey,
        length,
    })
}

fn tail() -> impl Strategy<Value = Tail> {
    prop_oneof![
        3 => Just(Tail::None),
        1 => Just(Tail::Immediate(IMM)),
        1 => prop_oneof![4 => Just(RKEY), 1 => Just(BAD_KEY)].prop_map(Tail::Invalidate),
    ]
}

fn aeths() -> impl Strategy<Value = Aeth> {
    let byte = prop_oneof![
        6 => Just(31_u8),
        1 => 0x20_u8..0x40,
        3 => Just(0x60),
        1 => 0x61_u8..0x65,
        1 => any::<u8>(),
    ];
    (byte, any::<u32>()).prop_map(|(byte, msn)| aeth(Syndrome::from_byte(byte), msn))
}

fn atomics() -> impl Strategy<Value = AtomicEth> {
    (
        memory(),
        prop_oneof![6 => Just(!7), 1 => Just(!0)],
        0..3_u64,
    )
        .prop_map(|(place, mask, add)| AtomicEth {
            address: place.address & mask,
            rkey: place.rkey,
            swap_add: add,
            compare: 0,
        })
}

fn request() -> impl Strategy<Value = Op> {
    let feth = any::<[bool; 3]>().prop_map(|[visible, persistent, whole_region]| Feth {
        visible,
        persistent,
        whole_region,
    });
    let immediate = prop_oneof![Just(None), Just(Some(IMM))];
    prop_oneof![
        3 => Just(Op::SendFirst),
        3 => Just(Op::SendMiddle),
        3 => tail().prop_map(Op::SendLast),
        4 => tail().prop_map(Op::SendOnly),
        3 => memory().prop_map(Op::WriteFirst),
        3 => Just(Op::WriteMiddle),
        3 => immediate.clone().prop_map(Op::WriteLast),
        4 => (memory(), immediate).prop_map(|(memory, immediate)| Op::WriteOnly(memory, immediate)),
        4 => memory().prop_map(Op::ReadRequest),
        3 => atomics().prop_map(Op::FetchAdd),
        2 => atomics().prop_map(Op::CompareSwap),
        2 => (feth, memory()).prop_map(|(feth, memory)| Op::Flush(feth, memory)),
        2 => memory().prop_map(|memory| Op::AtomicWrite(Reth { length: 8, ..memory })),
    ]
}

fn responses() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => aeths().prop_map(Op::Acknowledge),
        2 => aeths().prop_map(Op::ReadResponseFirst),
        2 => Just(Op::ReadResponseMiddle),
        2 => aeths().prop_map(Op::ReadResponseLast),
        3 => aeths().prop_map(Op::ReadResponseOnly),
        2 => (aeths(), any::<u64>()).prop_map(|(aeth, old)| Op::AtomicAcknowledge(aeth, old)),
    ]
}

fn a_packet() -> impl Strategy<Value = Act> {
    let op = prop_oneof![request(), responses()];
    let distance = prop_oneof![
        8 => Just(0),
        4 => -6..10_i32,
        1 => -300..300_i32,
        1 => any::<i32>(),
    ];
    let bytes = prop_oneof![6 => Just(256_u16), 3 => Just(0), 2 => Just(8), 2 => 0..300_u16];
    (op, distance, bytes, any::<bool>()).prop_map(|(op, distance, bytes, ack_req)| Act::Packet {
        op,
        response: op.is_response(),
        distance,
        bytes: if op.carries_data() { bytes } else { 0 },
        ack_req,
    })
}

fn act() -> impl Strategy<Value = Act> {
    let op = prop_oneof![
        tail().prop_map(SendOp::Send),
        Just(write(0)),
        Just(write_immediate(0)),
        Just(read(0)),
        Just(add(0)),
        Just(flush()),
        Just(atomic_write(0)),
        Just(SendOp::Local),
        Just(datagram()),
    ];
    let length = prop_oneof![2 => Just(8_u32), 4 => 0..1500_u32, 1 => any::<u32>()];
    let fault = prop_oneof![
        Just(None),
        Just(Some(Fault::Busy)),
        Just(Some(Fault::Access)),
        Just(Some(Fault::Operational))
    ];
    prop_oneof![
        30 => a_packet(),
        6 => (op, length, any::<bool>())
            .prop_map(|(op, length, fence)| Act::Post(op, length, fence)),
        4 => (0..900_u16).prop_map(Act::PostReceive),
        2 => (0..5_u8, fault).prop_map(|(place, fault)| Act::Fault(place, fault)),
        4 => (0..20_000_u32).prop_map(Act::Wait),
        4 => (1..9_u8).prop_map(Act::Send),
        1 => any::<u8>().prop_map(Act::Move),
    ]
}

/// A side and what is known of it.
struct Played {
    lone: Lone,
    /// Posted and not ended.
    posted: VecDeque<SlotIndex>,
    receives_posted: usize,
    /// Numbers that come next, as far as a peer could know.
    expected: Psn,
    sent: Psn,
}

impl Played {
    fn new(setup: &Setup) -> Self {
        Self {
            lone: Lone::new(setup),
            posted: VecDeque::new(),
            receives_posted: 0,
            expected: Psn::from_low_bits(setup.psn),
            sent: Psn::from_low_bits(setup.psn),
        }
    }

    fn look(&mut self) {
        let side = &mut self.lone.side;
        side.collect();
        for done in side.done.drain(..) {
            // In the order of posting, each once.
            assert_eq!(Some(done.slot), self.posted.pop_front());
            assert!(done.reported || done.status == WcStatus::Success);
        }
        assert!(side.host.received.len() <= self.receives_posted);
        let in_engine = side.engine.send_queue_len() as usize;
        assert_eq!(in_engine, self.posted.len());
    }

    /// Sends at most `most` packets, of which there are not infinitely many.
    fn send(&mut self, most: usize) {
        for n in 0.. {
            if n == most {
                break;
            }
            let Some((packet, data)) = self.lone.side.send_one(self.lone.now) else {
                break;
            };
            assert_eq!(data.len(), packet.data_bytes as usize);
            if let Op::Acknowledge(_) = packet.op {
                self.expected = packet.psn.next();
            }
            if packet.op.is_request() {
                self.sent = packet.psn;
            }
            // Four READs of the whole memory are the most.
            assert!(n < 40_000);
        }
        self.look();
    }

    fn do_one(&mut self, act: &Act) {
        match *act {
            Act::Packet {
                op,
                response,
                distance,
                bytes,
                ack_req,
            } => {
                let base = if response { self.sent } else { self.expected };
                let packet = Packet {
                    psn: Psn::from_low_bits(base.get().wrapping_add_signed(distance)),
                    ack_req,
                    ..self.lone.packet(0, op, usize::from(bytes))
                };
                if !response && distance == 0 {
                    self.expected = self.expected.next();
                }
                let data = vec![7; usize::from(bytes)];
                self.lone.side.receive(self.lone.now, packet, data);
            }
            Act::Post(op, length, fence) => {
                let wr = SendWr {
                    fence,
                    ..SendWr::new(op, length)
                };
                match self.lone.side.engine.post_send(wr) {
                    Ok(slot) => {
                        let host = &mut self.lone.side.host;
                        let data = vec![1; length.min(4096) as usize];
                        host.incoming[slot.0 as usize] = data.clone();
                        host.outgoing[slot.0 as usize] = data;
                        self.posted.push_back(slot);
                    }
                    Err(PostError::Full) => assert_eq!(self.posted.len(), 8),
                    Err(PostError::State) => assert!(!self.lone.state().may_post_send()),
                }
            }
            Act::PostReceive(capacity) => {
                let buffer = vec![0; usize::from(capacity)];
                self.lone.side.host.receives.push_back(buffer);
                self.receives_posted += 1;
            }
            Act::Fault(place, fault) => {
                let host = &mut self.lone.side.host;
                let faults = match place {
                    0 => &mut host.faults,
                    1 => &mut host.check_faults,
                    2 => &mut host.receive_faults,
                    3 => &mut host.response_faults,
                    _ => &mut host.payload_faults,
                };
                faults.push_back(fault);
            }
            Act::Wait(micros) => {
                let end = self.lone.now.after(Span::from_micros(u64::from(micros)));
                for n in 0.. {
                    self.send(usize::MAX);
                    let engine = &mut self.lone.side.engine;
                    let Some(next) = engine.next_timeout().filter(|next| *next <= end) else {
                        break;
                    };
                    self.lone.now = self.lone.now.max(next);
                    engine.handle_timeout(self.lone.now, &mut self.lone.side.host);
                    assert!(n < 20_000, "timers without end");
                }
                self.lone.now = end;
            }
            Act::Send(most) => self.send(usize::from(most)),
            Act::Move(to) => self.go(to),
        }
        self.look();
    }

    fn go(&mut self, to: u8) {
        let state = match to % 8 {
            0 => State::Reset,
            1 => State::Err,
            2..=4 => State::Sqd,
            _ => State::Rts,
        };
        let before = self.lone.state();
        let moved = self.lone.side.try_modify(
            state,
            oxe_proto::transport::state::AttributeMask::NONE,
            self.lone.setup.attributes,
        );
        if moved.is_err() {
            assert_eq!(self.lone.state(), before);
            return;
        }
        if state == State::Reset {
            // Nothing of before is reported any more.
            self.posted.clear();
            self.look();
            assert!(self.lone.side.send(self.lone.now).is_empty());
            assert_eq!(self.lone.side.engine.next_timeout(), None);
            let setup = self.lone.setup.clone();
            self.lone.side.connect(&setup, PEER);
            self.expected = Psn::from_low_bits(setup.psn);
            self.sent = self.expected;
        }
    }

    /// The end of all: everything is flushed, once.
    fn end(mut self) {
        self.send(usize::MAX);
        if self.lone.state() != State::Err {
            self.lone.side.go(State::Err);
        }
        self.send(usize::MAX);
        assert!(self.posted.is_empty());
        assert!(self.lone.side.host.current.is_none());
        assert_eq!(self.lone.side.engine.next_timeout(), None);
    }
}

fn setup(qp_type: QpType, window: u32, early_limit: u32) -> Setup {
    let mut setup = Setup {
        qp_type,
        window,
        early_limit,
        slots: 8,
        ..Setup::default()
    };
    setup.attributes.timeout = 10;
    setup.attributes.retry_cnt = 3;
    setup
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_everything_ends_once(
        qp_type in prop_oneof![
            6 => Just(QpType::Rc),
            2 => Just(QpType::Uc),
            1 => Just(QpType::Ud),
            1 => Just(QpType::XrcIni),
            1 => Just(QpType::XrcTgt),
        ],
        window in prop_oneof![Just(1_u32), Just(4), Just(256)],
        early_limit in prop_oneof![Just(0_u32), Just(3), Just(256)],
        acts in proptest::collection::vec(act(), 0..120),
    ) {
        let mut played = Played::new(&setup(qp_type, window, early_limit));
        for act in &acts {
            played.do_one(act);
        }
        played.end();
    }
}
