// SPDX-License-Identifier: GPL-2.0

//! Datagrams: who may send them, what they need to be received, and how their requests end.

mod pair;

use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        ports::Observation,
        state::{AttributeMask, QpType, State},
        wr::{RecvKind, SendOp, SendWr},
    },
    types::{Mtu, Qkey, Qpn},
    wire::{
        deth::Deth,
        packet::{Addressing, Op, Packet, Tail},
    },
};
use pair::{craft::*, pattern, Lone, Pair, Setup};

fn setup() -> Setup {
    Setup {
        qp_type: QpType::Ud,
        ..Setup::default()
    }
}

fn lone() -> Lone {
    let mut lone = Lone::new(&setup());
    lone.side.host.receives.extend((0..4).map(|_| vec![0; 140]));
    lone
}

fn unharmed(lone: &mut Lone) {
    assert_eq!(lone.said(), []);
    assert_eq!(lone.state(), State::Rts);
    assert!(lone.side.events.is_empty());
}

#[test]
fn forty_bytes_come_before_the_data() {
    let mut lone = lone();
    lone.give(7, send_only(), &pattern(100, 1));
    unharmed(&mut lone);
    let (completion, buffer) = &lone.side.host.received[0];
    assert_eq!(completion.status, WcStatus::Success);
    assert_eq!(completion.kind, RecvKind::Send);
    assert_eq!(completion.bytes, 140);
    assert_eq!(completion.tail, Tail::None);
    assert_eq!(completion.source_qp, Qpn::from_low_bits(0x11));
    assert!(!completion.solicited);
    assert_eq!(buffer[..40], [0xee; 40]);
    assert_eq!(buffer[40..], pattern(100, 1));
    // Numbers do not matter.
    for n in [7, 0, 100] {
        lone.give(n, send_only(), &pattern(10, 1));
    }
    assert_eq!(lone.side.host.received.len(), 4);
}

#[test]
fn immediate_data_source_and_the_wish_for_an_interrupt_are_told() {
    let mut lone = lone();
    let packet = Packet {
        solicited: true,
        addressing: Addressing::Datagram(Deth {
            qkey: QKEY,
            source_qp: Qpn::from_low_bits(0xab_cdef),
        }),
        ..lone.packet(0, Op::SendOnly(Tail::Immediate(IMM)), 0)
    };
    lone.side.receive(lone.now, packet, Vec::new());
    let completion = lone.side.host.received[0].0;
    assert!(completion.solicited);
    assert_eq!(completion.tail, Tail::Immediate(IMM));
    assert_eq!(completion.bytes, 40);
    assert_eq!(completion.source_qp, Qpn::from_low_bits(0xab_cdef));
}

#[test]
fn a_datagram_needs_the_queue_key() {
    let mut lone = lone();
    for qkey in [0, 0x1110, 0x8000_1111, u32::MAX] {
        let packet = Packet {
            addressing: Addressing::Datagram(Deth {
                qkey: Qkey(qkey),
                source_qp: Qpn::from_low_bits(0x11),
            }),
            ..lone.packet(0, send_only(), 4)
        };
        lone.side.receive(lone.now, packet, b"abcd".to_vec());
    }
    unharmed(&mut lone);
    let host = &lone.side.host;
    assert_eq!(host.count(|o| *o == Observation::BadQkey), 4);
    assert!(host.received.is_empty());
    assert_eq!(host.receives.len(), 4);
    // It can be changed.
    let mut attributes = lone.setup.attributes;
    attributes.qkey = Qkey(0x2222);
    lone.side
        .modify(State::Rts, AttributeMask::QKEY, attributes);
    lone.give(0, send_only(), b"abcd");
    assert!(lone.side.host.received.is_empty());
}

#[test]
fn what_does_not_fit_is_dropped_and_the_receive_request_waits() {
    for (capacity, bytes, fits) in [
        (140, 100, true),
        (140, 101, false),
        (40, 0, true),
        (40, 1, false),
        (39, 0, false),
        (0, 0, false),
    ] {
        let mut lone = lone();
        lone.side.host.receives = [vec![0; capacity]].into();
        lone.give(0, send_only(), &pattern(bytes, 1));
        unharmed(&mut lone);
        let expected = usize::from(fits);
        assert_eq!(
            lone.side.host.received.len(),
            expected,
            "{capacity} {bytes}"
        );
        if !fits && capacity >= 40 {
            lone.give(1, send_only(), b"");
            assert_eq!(lone.side.host.received[0].0.bytes, 40);
        }
        assert_eq!(lone.side.host.asked.len(), 1);
    }
}

#[test]
fn without_a_receive_request_a_datagram_is_lost() {
    let mut lone = lone();
    lone.side.host.receives.clear();
    lone.give(0, send_only(), b"lost");
    unharmed(&mut lone);
    let host = &mut lone.side.host;
    assert_eq!(host.count(|o| *o == Observation::NoReceive), 1);
    host.receives.push_back(vec![0; 140]);
    lone.give(1, send_only(), b"here");
    assert_eq!(lone.side.host.received[0].1[40..44], *b"here");
}

#[test]
fn only_datagrams_are_taken() {
    let mut lone = lone();
    for (op, bytes) in [
        (Op::SendFirst, 256),
        (Op::SendMiddle, 256),
        (send_last(), 4),
        (write_only(0, 4), 4),
        (read_request(0, 4), 0),
        (fetch_add(0), 0),
        (ack(1), 0),
        (response(0, 1, 1), 4),
    ] {
        lone.give(0, op, &vec![1; bytes]);
        unharmed(&mut lone);
    }
    // One without a datagram's header.
    let packet = Packet {
        addressing: Addressing::Connected,
        ..lone.packet(0, send_only(), 0)
    };
    lone.side.receive(lone.now, packet, Vec::new());
    unharmed(&mut lone);
    let host = &lone.side.host;
    assert!(host.received.is_empty() && host.asked.is_empty());
    assert_eq!(host.writes + host.atomics, 0);
    assert_eq!(host.count(|o| *o == Observation::Unexpected), 9);
}

#[test]
fn buffers_that_fail_end_their_receive_request() {
    // Our sources say nothing of this case; as with connections.
    for (faults, status) in [
        ([Some(Fault::Access), None], WcStatus::LocalProtection),
        ([None, Some(Fault::Access)], WcStatus::LocalProtection),
        ([None, Some(Fault::Operational)], WcStatus::LocalQpOperation),
    ] {
        let mut lone = lone();
        lone.side.host.receive_faults = faults.into();
        lone.give(0, send_only(), b"abcd");
        assert_eq!(lone.said(), []);
        assert_eq!(lone.side.host.receive_statuses(), [status]);
        assert_eq!(lone.state(), State::Err);
    }
    // Busy ones lose the datagram.
    let mut lone = lone();
    lone.side.host.receive_faults = [Some(Fault::Busy)].into();
    lone.give(0, send_only(), b"abcd");
    unharmed(&mut lone);
    lone.give(1, send_only(), b"efgh");
    assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
    assert_eq!(lone.side.host.asked.len(), 1);
}

#[test]
fn each_request_names_its_destination() {
    let mut lone = lone();
    for (dest, qkey, sent) in [
        (0x22, 0x3333, 0x3333),
        (0x23, 0x7fff_ffff, 0x7fff_ffff),
        // The top bit stands for the queue pair's own.
        (0x24, 0x8000_0000, 0x1111),
        (0xff_ffff, 0xffff_ffff, 0x1111),
    ] {
        let op = SendOp::Datagram {
            dest_qp: Qpn::from_low_bits(dest),
            qkey: Qkey(qkey),
            immediate: None,
        };
        lone.side.post(op, b"abcd".to_vec());
        let (packet, data) = lone.said_in_full().remove(0);
        assert_eq!(packet.dest_qp.get(), dest);
        let deth = Deth {
            qkey: Qkey(sent),
            source_qp: Qpn::from_low_bits(0x22),
        };
        assert_eq!(packet.addressing, Addressing::Datagram(deth));
        assert_eq!(packet.op, send_only());
        assert!(!packet.ack_req);
        assert_eq!(data, b"abcd");
    }
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 4]);
    assert_eq!(lone.side.engine.next_timeout(), None);
}

#[test]
fn flags_and_immediate_data_are_sent() {
    let mut lone = lone();
    let op = SendOp::Datagram {
        dest_qp: Qpn::from_low_bits(0x22),
        qkey: QKEY,
        immediate: Some(IMM),
    };
    let wr = SendWr {
        solicited: true,
        signalled: false,
        ..SendWr::new(op, 0)
    };
    lone.side.post_wr(wr, Vec::new());
    let (packet, data) = lone.said_in_full().remove(0);
    assert_eq!(packet.op, Op::SendOnly(Tail::Immediate(IMM)));
    assert!(packet.solicited && data.is_empty());
    assert!(!lone.side.done[0].reported);
}

#[test]
fn one_that_does_not_fit_a_packet_is_refused() {
    // The kernel's rxe quotes a rule by which such a request ends well and sends nothing; we hold
    // that its user should know. Either way no packet goes out.
    for length in [4097, 1 << 20, u32::MAX] {
        let mut lone = lone();
        lone.side.post(datagram(), b"1st".to_vec());
        lone.side
            .post_wr(SendWr::new(datagram(), length), Vec::new());
        lone.side.post(datagram(), b"3rd".to_vec());
        assert_eq!(lone.said(), [(0, send_only())]);
        let ended = [WcStatus::Success, WcStatus::LocalLength, WcStatus::Flushed];
        assert_eq!(lone.side.statuses(), ended);
        assert_eq!(lone.state(), State::Sqe);
    }
}

#[test]
fn one_may_be_as_long_as_the_ports_mtu() {
    // No modify of a datagram queue pair takes a path MTU: the port's counts.
    let setup = Setup {
        mtu: Mtu::B4096,
        ..setup()
    };
    let mut lone = Lone::new(&setup);
    lone.side.post(datagram(), pattern(4096, 1));
    assert_eq!(lone.said(), [(0, send_only())]);
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
    // Which may change.
    lone.side.engine.set_port_mtu(Mtu::B1024);
    lone.side.post(datagram(), pattern(1024, 1));
    assert_eq!(lone.said(), [(1, send_only())]);
    lone.side.post(datagram(), pattern(1025, 1));
    assert_eq!(lone.said(), []);
    let ended = [WcStatus::Success, WcStatus::Success, WcStatus::LocalLength];
    assert_eq!(lone.side.statuses(), ended);
}

#[test]
fn the_send_queue_error_is_left_for_ready_to_send() {
    for (op, status) in [
        (send(), WcStatus::LocalQpOperation),
        (write(0), WcStatus::LocalQpOperation),
        (read(0), WcStatus::LocalQpOperation),
    ] {
        let mut lone = lone();
        lone.side.post(datagram(), b"1st".to_vec());
        lone.side.post(op, b"2nd".to_vec());
        assert_eq!(lone.said(), [(0, send_only())]);
        lone.side.post(datagram(), b"3rd".to_vec());
        assert_eq!(lone.said(), []);
        let ended = [WcStatus::Success, status, WcStatus::Flushed];
        assert_eq!(lone.side.statuses(), ended);
        assert_eq!(lone.state(), State::Sqe);
        assert!(lone.side.events.is_empty());
        lone.give(0, send_only(), b"abcd");
        assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
        let attributes = lone.setup.attributes;
        lone.side
            .modify(State::Rts, AttributeMask::QKEY, attributes);
        lone.side.post(datagram(), b"4th".to_vec());
        assert_eq!(lone.said(), [(1, send_only())]);
        assert_eq!(lone.side.statuses()[3..], [WcStatus::Success]);
    }
}

#[test]
fn a_general_services_queue_pair_is_one_of_datagrams() {
    let mut setup = Setup {
        qp_type: QpType::Gsi,
        ..Setup::default()
    };
    setup.attributes.qkey = Qkey::GSI;
    let mut lone = Lone::reset(&setup);
    let masks = AttributeMask::PKEY.with(AttributeMask::QKEY);
    lone.side.modify(State::Init, masks, setup.attributes);
    lone.side
        .modify(State::Rtr, AttributeMask::NONE, setup.attributes);
    lone.side
        .modify(State::Rts, AttributeMask::SQ_PSN, setup.attributes_with(0));
    lone.side.host.receives.push_back(vec![0; 300]);
    let packet = Packet {
        addressing: Addressing::Datagram(Deth {
            qkey: Qkey::GSI,
            source_qp: Qpn::GSI,
        }),
        ..lone.packet(0, send_only(), 256)
    };
    lone.side.receive(lone.now, packet, pattern(256, 1));
    assert_eq!(lone.side.host.received[0].0.source_qp, Qpn::GSI);
    let op = SendOp::Datagram {
        dest_qp: Qpn::GSI,
        qkey: Qkey::GSI,
        immediate: None,
    };
    lone.side.post(op, pattern(256, 1));
    let (packet, _) = lone.said_in_full().remove(0);
    // Its top bit is set, and its own is the same.
    let Addressing::Datagram(deth) = packet.addressing else {
        panic!("{packet:?}");
    };
    assert_eq!(deth.qkey, Qkey::GSI);
}

#[test]
fn datagrams_arrive_or_not() {
    let mut pair = Pair::new(&setup());
    for n in 0..60 {
        pair.b.host.receives.push_back(vec![0; 140]);
        pair.a.post(datagram(), pattern(100, n));
    }
    pair.run(|_, count, _| count % 7 != 3);
    assert_eq!(pair.a.statuses(), [WcStatus::Success; 60]);
    let kept = (0..60_u8).filter(|n| n % 7 != 3);
    for ((_, buffer), n) in pair.b.host.received.iter().zip(kept) {
        assert_eq!(buffer[40..], pattern(100, n));
    }
    assert!(pair.sent('b').is_empty());
}
