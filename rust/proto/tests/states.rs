// SPDX-License-Identifier: GPL-2.0

//! What a queue pair does in each state, and what is left of it after a move.

mod pair;

use oxe_proto::{
    transport::{
        attributes::{Access, Attributes, Change},
        error::WcStatus,
        ports::Observation,
        state::{AttributeMask as M, ModifyError, QpType, State},
        wr::SendWr,
        Event, PostError,
    },
    types::{Instant, Pkey, Qkey, Qpn},
    wire::{
        deth::Deth,
        packet::{Addressing, Op, Packet},
    },
};
use pair::{craft::*, lone::PEER, pattern, Lone, Pair, Setup};

const REFUSED: Result<oxe_proto::transport::wr::SlotIndex, PostError> = Err(PostError::State);

fn unexpected(lone: &Lone) -> usize {
    lone.side.host.count(|o| *o == Observation::Unexpected)
}

#[test]
fn before_ready_to_receive_nothing_is_done() {
    for to_init in [false, true] {
        let mut lone = Lone::reset(&Setup::default());
        if to_init {
            let mask = M::PKEY.with(M::PORT).with(M::ACCESS);
            let attributes = lone.setup.attributes;
            lone.side.modify(State::Init, mask, attributes);
        }
        lone.side.host.receives.push_back(vec![0; 4]);
        assert_eq!(lone.side.engine.post_send(SendWr::new(send(), 0)), REFUSED);
        for (op, bytes) in [
            (send_only(), 4),
            (write_only(0, 4), 4),
            (read_request(0, 4), 0),
            (ack(1), 0),
            (response(0, 1, 1), 4),
        ] {
            assert_eq!(lone.ask(0, op, &vec![1; bytes]), []);
        }
        assert_eq!(unexpected(&lone), 5);
        assert!(lone.side.host.received.is_empty() && lone.side.events.is_empty());
        assert_eq!(lone.side.host.writes, 0);
        assert_eq!(lone.side.engine.next_timeout(), None);
    }
}

#[test]
fn ready_to_receive_answers_but_does_not_send() {
    let setup = Setup::default();
    let mut lone = Lone::reset(&setup);
    lone.side.listen(&setup, PEER);
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.side.engine.post_send(SendWr::new(send(), 0)), REFUSED);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
    assert_eq!(
        lone.ask(1, read_request(0, 4), &[])[0],
        (1, response(0, 1, 2))
    );
    assert_eq!(lone.ask(5, send_only(), b"abcd"), [(2, sequence_nak(2))]);
    // Nothing was asked for that could be answered.
    assert_eq!(lone.ask(0, ack(1), &[]), []);
    assert_eq!(lone.side.events, [Event::CommunicationEstablished]);
    lone.side.talk(&setup, PEER);
    lone.side.post(write(0), b"abcd".to_vec());
    assert_eq!(lone.said(), [(0, write_only(0, 4))]);
}

#[test]
fn the_first_good_packet_before_ready_to_send_is_told_once() {
    let setup = Setup::default();
    for qp_type in [QpType::Rc, QpType::Uc, QpType::XrcTgt] {
        let setup = Setup {
            qp_type,
            ..setup.clone()
        };
        let mut lone = Lone::reset(&setup);
        lone.side.listen(&setup, PEER);
        lone.side.host.receives.extend((0..9).map(|_| vec![0; 4]));
        let stranger = Packet {
            pkey: Pkey(0x8001),
            ..lone.packet(0, send_only(), 0)
        };
        lone.side.receive(lone.now, stranger, Vec::new());
        lone.said();
        assert!(lone.side.events.is_empty());
        for n in 0..3 {
            lone.ask(n, send_only(), b"abcd");
        }
        assert_eq!(lone.side.events, [Event::CommunicationEstablished]);
        lone.side.talk(&setup, PEER);
        lone.ask(3, send_only(), b"abcd");
        assert_eq!(lone.side.events.len(), 1);
    }
    // Once a connection.
    let mut lone = Lone::reset(&setup);
    for n in 1..4 {
        lone.side.listen(&setup, PEER);
        lone.ask(0, write_only(0, 4), b"abcd");
        assert_eq!(lone.side.events.len(), n);
        lone.side.go(State::Reset);
    }
    // In RTS it is no news; and it is none any more after the move to RTS.
    let mut lone = Lone::usual();
    lone.ask(0, write_only(0, 4), b"abcd");
    assert!(lone.side.events.is_empty());
    let mut lone = Lone::reset(&setup);
    lone.side.listen(&setup, PEER);
    lone.give(0, write_only(0, 4), b"abcd");
    lone.side.talk(&setup, PEER);
    lone.said();
    assert!(lone.side.events.is_empty());
}

#[test]
fn a_datagram_with_a_wrong_key_is_not_the_first_good_packet() {
    let setup = Setup {
        qp_type: QpType::Ud,
        ..Setup::default()
    };
    let mut lone = Lone::reset(&setup);
    lone.side.listen(&setup, PEER);
    let packet = Packet {
        addressing: Addressing::Datagram(Deth {
            qkey: Qkey(0x666),
            source_qp: Qpn::from_low_bits(0x11),
        }),
        ..lone.packet(0, send_only(), 0)
    };
    lone.side.receive(lone.now, packet, Vec::new());
    lone.said();
    assert!(lone.side.events.is_empty());
}

#[test]
fn a_refused_modify_changes_nothing() {
    let setup = Setup::default();
    let good = Attributes {
        timeout: 10,
        retry_cnt: 2,
        ..setup.attributes
    };
    let refused = |lone: &mut Lone, change: Change, error: ModifyError| {
        let before = *lone.side.engine.attributes();
        let state = lone.state();
        let result = lone
            .side
            .engine
            .modify(lone.now, &change, &mut lone.side.host);
        assert_eq!(result, Err(error));
        assert_eq!(*lone.side.engine.attributes(), before);
        assert_eq!(lone.state(), state);
    };
    let change = |state, mask, attributes| Change {
        state: Some(state),
        current: None,
        mask,
        attributes,
    };
    let mut lone = Lone::reset(&setup);
    let init = M::PKEY.with(M::PORT).with(M::ACCESS);
    let attributes = setup.attributes_with(PEER);
    refused(
        &mut lone,
        change(State::Rts, M::NONE, attributes),
        ModifyError::Transition,
    );
    refused(
        &mut lone,
        change(State::Init, M::PKEY.with(M::PORT), attributes),
        ModifyError::Missing(M::ACCESS),
    );
    refused(
        &mut lone,
        change(State::Init, init.with(M::QKEY), attributes),
        ModifyError::NotAllowed(M::QKEY),
    );
    lone.side.modify(State::Init, init, attributes);
    let rtr = M::ADDRESS
        .with(M::PATH_MTU)
        .with(M::DEST_QP)
        .with(M::RQ_PSN)
        .with(M::MAX_DEST_RD_ATOMIC)
        .with(M::MIN_RNR_TIMER);
    for (attribute, wrong) in [
        (
            M::MIN_RNR_TIMER,
            Attributes {
                min_rnr_timer: 32,
                ..attributes
            },
        ),
        (
            M::MAX_DEST_RD_ATOMIC,
            Attributes {
                max_dest_rd_atomic: 17,
                ..attributes
            },
        ),
    ] {
        let error = ModifyError::Value(attribute);
        refused(&mut lone, change(State::Rtr, rtr, wrong), error);
    }
    lone.side.modify(State::Rtr, rtr, attributes);
    let rts = M::SQ_PSN
        .with(M::TIMEOUT)
        .with(M::RETRY_CNT)
        .with(M::RNR_RETRY)
        .with(M::MAX_RD_ATOMIC);
    for (attribute, wrong) in [
        (
            M::TIMEOUT,
            Attributes {
                timeout: 32,
                ..good
            },
        ),
        (
            M::RETRY_CNT,
            Attributes {
                retry_cnt: 8,
                ..good
            },
        ),
        (
            M::RNR_RETRY,
            Attributes {
                rnr_retry: 8,
                ..good
            },
        ),
    ] {
        let error = ModifyError::Value(attribute);
        refused(&mut lone, change(State::Rts, rts, wrong), error);
    }
    let mistaken = Change {
        current: Some(State::Rts),
        ..change(State::Rts, rts.with(M::CURRENT_STATE), attributes)
    };
    refused(&mut lone, mistaken, ModifyError::CurrentState);
    let right = Change {
        current: Some(State::Rtr),
        ..mistaken
    };
    let env = &mut lone.side.host;
    assert_eq!(lone.side.engine.modify(lone.now, &right, env), Ok(()));
    // In the middle of traffic.
    lone.side.post(write(0), pattern(600, 1));
    lone.say_one();
    refused(
        &mut lone,
        change(State::Init, init, attributes),
        ModifyError::Transition,
    );
    refused(
        &mut lone,
        change(State::Sqd, M::TIMEOUT, attributes),
        ModifyError::NotAllowed(M::TIMEOUT),
    );
    assert_eq!(lone.said().len(), 2);
    assert_eq!(lone.ask(0, write_only(0, 1), b"x"), [(0, ack(1))]);
}

#[test]
fn rights_and_the_pause_can_be_changed_at_work() {
    let mut lone = Lone::usual();
    assert_eq!(lone.ask(0, write_only(0, 1), b"x"), [(0, ack(1))]);
    let attributes = Attributes {
        access: Access::default(),
        min_rnr_timer: 9,
        ..Attributes::default()
    };
    lone.side.modify(State::Rts, M::MIN_RNR_TIMER, attributes);
    assert_eq!(lone.ask(1, send_only(), b"x"), [(1, rnr(9, 1))]);
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.ask(1, send_only(), b"x"), [(1, ack(2))]);
    lone.side.modify(State::Rts, M::ACCESS, attributes);
    let invalid = oxe_proto::wire::aeth::NakCode::InvalidRequest;
    assert_eq!(lone.ask(2, write_only(0, 1), b"x"), [(2, nak(invalid, 2))]);
}

#[test]
fn an_extended_connection_has_a_side_for_each_role() {
    // The target takes requests for the queue that they name.
    let mut lone = Lone::of(QpType::XrcTgt);
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
    assert_eq!(lone.side.host.asked, [Some(SRQ)]);
    assert_eq!(lone.ask(1, send_only(), b"abcd"), [(1, rnr(1, 1))]);
    assert_eq!(lone.ask(1, ack(1), &[]), []);
    // The initiator takes answers only.
    let mut lone = Lone::of(QpType::XrcIni);
    let wr = SendWr {
        srq: SRQ,
        ..SendWr::new(send(), 4)
    };
    lone.side.post_wr(wr, b"abcd".to_vec());
    let (packet, _) = lone.said_in_full().remove(0);
    assert_eq!(packet.addressing, Addressing::SharedQueue(SRQ));
    lone.give(0, ack(1), &[]);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), []);
    assert_eq!(unexpected(&lone), 1);
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);

    let ini = Setup {
        qp_type: QpType::XrcIni,
        ..Setup::default()
    };
    let tgt = Setup {
        qp_type: QpType::XrcTgt,
        ..Setup::default()
    };
    let mut pair = Pair::of(&ini, &tgt);
    pair.b.host.receives.push_back(vec![0; 700]);
    for op in [write(0), read(0), send()] {
        pair.a.post(op, pattern(700, 1));
    }
    pair.a.post(add(0x8000), vec![0; 8]);
    pair.run(|_, count, _| count % 5 != 1);
    assert_eq!(pair.a.statuses(), [WcStatus::Success; 4]);
    assert_eq!(pair.b.host.atomics, 1);
}

#[test]
fn a_congestion_notice_is_no_request() {
    for qp_type in [QpType::Rc, QpType::Uc, QpType::Ud] {
        let mut lone = Lone::of(qp_type);
        let packet = Packet {
            service: oxe_proto::wire::packet::Service::Cnp,
            op: Op::Cnp,
            addressing: Addressing::Connected,
            becn: true,
            ..lone.packet(77, ack(0), 0)
        };
        lone.side.receive(lone.now, packet, Vec::new());
        assert_eq!(lone.said(), []);
        let host = &lone.side.host;
        assert_eq!(host.count(|o| *o == Observation::CongestionNotified), 1);
    }
}

#[test]
fn time_does_not_matter_to_a_queue_pair_at_rest() {
    let mut lone = Lone::usual();
    let env = &mut lone.side.host;
    lone.side
        .engine
        .handle_timeout(Instant::from_nanos(u64::MAX), env);
    assert_eq!(lone.said(), []);
    assert_eq!(lone.state(), State::Rts);
}
