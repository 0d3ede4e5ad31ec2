// SPDX-License-Identifier: GPL-2.0

//! Which packets a request becomes: operations, headers, lengths, numbers and flags.

mod pair;

use oxe_proto::{
    transport::{
        state::QpType,
        wr::{SendOp, SendWr},
    },
    types::{Mtu, Psn},
    wire::{
        flush::Feth,
        packet::{Addressing, Op, Packet, Service, Tail},
    },
};
use pair::{craft::*, pattern, Lone, Setup, RKEY};

const MTU: usize = 256;

fn packets(wr: SendWr, setup: &Setup) -> Vec<(Packet, Vec<u8>)> {
    let mut lone = Lone::new(setup);
    lone.side.post_wr(wr, pattern(wr.length as usize, 1));
    lone.said_in_full()
}

#[test]
fn messages_are_cut_at_the_path_mtu() {
    for mtu in Mtu::ALL {
        let bytes = mtu.bytes() as usize;
        let setup = Setup {
            mtu,
            ..Setup::default()
        };
        for (length, count) in [
            (0, 1),
            (1, 1),
            (bytes - 1, 1),
            (bytes, 1),
            (bytes + 1, 2),
            (2 * bytes, 2),
            (3 * bytes + 5, 4),
        ] {
            for op in [send(), write(0)] {
                let packets = packets(SendWr::new(op, length as u32), &setup);
                assert_eq!(packets.len(), count, "{mtu:?} {length}");
                let (last, rest) = packets.split_last().unwrap();
                assert!(rest.iter().all(|(_, data)| data.len() == bytes));
                assert_eq!(last.1.len(), length - (count - 1) * bytes);
                let data: Vec<u8> = packets.into_iter().flat_map(|(_, data)| data).collect();
                assert_eq!(data, pattern(length, 1));
            }
        }
    }
}

#[test]
fn each_packet_has_the_operation_of_its_place() {
    let setup = Setup::default();
    let ops = |op: SendOp, length: u32| -> Vec<Op> {
        let packets = packets(SendWr::new(op, length), &setup);
        packets.into_iter().map(|(packet, _)| packet.op).collect()
    };
    for tail in [Tail::None, Tail::Immediate(IMM), Tail::Invalidate(RKEY)] {
        let send = SendOp::Send(tail);
        assert_eq!(ops(send, 100), [Op::SendOnly(tail)]);
        assert_eq!(ops(send, 0), [Op::SendOnly(tail)]);
        assert_eq!(ops(send, 512), [Op::SendFirst, Op::SendLast(tail)]);
        let long = [
            Op::SendFirst,
            Op::SendMiddle,
            Op::SendMiddle,
            Op::SendLast(tail),
        ];
        assert_eq!(ops(send, 1000), long);
    }
    for (op, immediate) in [(write(64), None), (write_immediate(64), Some(IMM))] {
        // The whole message's place and length are in the first packet.
        assert_eq!(ops(op, 0), [Op::WriteOnly(reth(64, 0), immediate)]);
        assert_eq!(ops(op, 100), [Op::WriteOnly(reth(64, 100), immediate)]);
        let long = [
            Op::WriteFirst(reth(64, 1000)),
            Op::WriteMiddle,
            Op::WriteMiddle,
            Op::WriteLast(immediate),
        ];
        assert_eq!(ops(op, 1000), long);
    }
    assert_eq!(ops(read(64), 1000), [read_request(64, 1000)]);
    assert_eq!(ops(read(64), 0), [read_request(64, 0)]);
    assert_eq!(ops(add(64), 8), [fetch_add(64)]);
    let swap = SendOp::CompareSwap(atomic_at(8));
    assert_eq!(ops(swap, 8), [Op::CompareSwap(atomic_at(8))]);
    assert_eq!(ops(atomic_write(8), 8), [Op::AtomicWrite(reth(8, 8))]);
    for feth in [
        VISIBLE,
        PERSISTENT,
        Feth {
            whole_region: true,
            ..VISIBLE
        },
    ] {
        let flush = SendOp::Flush {
            feth,
            address: pair::BASE,
            rkey: RKEY,
        };
        let mut lone = Lone::usual();
        lone.side.post_wr(SendWr::new(flush, 5000), Vec::new());
        assert_eq!(lone.said(), [(0, Op::Flush(feth, reth(0, 5000)))]);
    }
}

#[test]
fn numbers_follow_each_other_and_a_read_takes_those_of_its_responses() {
    let mut lone = Lone::usual();
    let wrs = [
        (send(), 600),
        (read(0), 600),
        (add(0), 8),
        (read(0), 0),
        (write(0), 0),
        (send(), 1),
    ];
    for (op, length) in wrs {
        lone.side.post(op, vec![1; length]);
    }
    let numbers: Vec<_> = lone.said().into_iter().map(|(n, _)| n).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 6, 7, 8, 9]);
    // Around the end of all numbers.
    let first = lone.psn(0).get();
    assert!(first > 0xff_fff0 && Psn::from_low_bits(first).plus(9).get() < 16);
}

#[test]
fn the_wish_for_an_interrupt_is_on_the_last_packet_of_what_takes_a_receive_request() {
    let setup = Setup::default();
    for (op, takes) in [
        (send(), true),
        (SendOp::Send(Tail::Immediate(IMM)), true),
        (SendOp::Send(Tail::Invalidate(RKEY)), true),
        (write_immediate(0), true),
        (write(0), false),
        (read(0), false),
    ] {
        for length in [10, 600] {
            for solicited in [false, true] {
                let wr = SendWr {
                    solicited,
                    ..SendWr::new(op, length)
                };
                let packets = packets(wr, &setup);
                let (last, rest) = packets.split_last().unwrap();
                assert!(rest.iter().all(|(packet, _)| !packet.solicited));
                assert_eq!(last.0.solicited, solicited && takes, "{op:?}");
            }
        }
    }
    for op in [add(0), atomic_write(0)] {
        let wr = SendWr {
            solicited: true,
            ..SendWr::new(op, 8)
        };
        assert!(!packets(wr, &setup)[0].0.solicited);
    }
}

#[test]
fn every_packet_of_a_connection_says_where_it_goes() {
    for (qp_type, service) in [
        (QpType::Rc, Service::Rc),
        (QpType::Uc, Service::Uc),
        (QpType::XrcIni, Service::Xrc),
    ] {
        let setup = Setup {
            qp_type,
            ..Setup::default()
        };
        let wr = SendWr {
            srq: SRQ,
            ..SendWr::new(send(), 600)
        };
        for (packet, _) in packets(wr, &setup) {
            assert_eq!(packet.service, service);
            assert_eq!(packet.dest_qp.get(), pair::lone::PEER);
            assert_eq!(packet.pkey, setup.attributes.pkey);
            assert!(packet.mig_req && !packet.fecn && !packet.becn);
            let addressing = if qp_type == QpType::XrcIni {
                Addressing::SharedQueue(SRQ)
            } else {
                Addressing::Connected
            };
            assert_eq!(packet.addressing, addressing);
            // What goes out can be put on the wire.
            assert!(packet.emit(&mut [0; 64]).is_some());
        }
    }
}

#[test]
fn answers_say_where_they_go_and_ask_for_nothing() {
    for qp_type in [QpType::Rc, QpType::XrcTgt] {
        let mut lone = Lone::of(qp_type);
        lone.give(0, read_request(0, 600), &[]);
        lone.give(3, fetch_add(0), &[]);
        lone.give(4, write_only(0, 1), b"x");
        lone.give(9, write_only(0, 1), b"x");
        let said = lone.said_in_full();
        assert_eq!(said.len(), 5);
        for (packet, _) in said {
            assert_eq!(packet.dest_qp.get(), pair::lone::PEER);
            assert_eq!(packet.addressing, Addressing::Connected);
            assert!(!packet.ack_req && !packet.solicited);
            assert!(packet.emit(&mut [0; 64]).is_some());
        }
    }
}

#[test]
fn what_a_service_has_no_operation_for_is_not_sent() {
    // XRC has neither FLUSH nor ATOMIC WRITE in its opcodes.
    for (op, length) in [(flush(), 8), (atomic_write(0), 8)] {
        let mut lone = Lone::of(QpType::XrcIni);
        lone.side.post_wr(SendWr::new(op, length), vec![1; 8]);
        assert_eq!(lone.said(), []);
        let refused = oxe_proto::transport::error::WcStatus::LocalQpOperation;
        assert_eq!(lone.side.statuses(), [refused]);
    }
}

#[test]
fn a_path_without_a_migrated_mark_is_possible() {
    let setup = Setup {
        config: |mut config| {
            config.migrated = false;
            config
        },
        ..Setup::default()
    };
    let packets = packets(SendWr::new(send(), 4), &setup);
    assert!(!packets[0].0.mig_req);
    // Incoming ones may have it or not.
    let mut lone = Lone::new(&setup);
    for (n, mig_req) in [(0, false), (1, true)] {
        let packet = Packet {
            mig_req,
            ..lone.packet(n, write_only(0, 1), 1)
        };
        lone.side.receive(lone.now, packet, vec![1]);
        assert_eq!(lone.said(), [(n, ack(n as u32 + 1))]);
    }
}

#[test]
fn the_answer_to_a_read_is_cut_at_the_path_mtu() {
    for (length, count) in [(0, 1), (1, 1), (256, 1), (257, 2), (512, 2), (1000, 4)] {
        let mut lone = Lone::usual();
        lone.side.host.memory[64..64 + length].copy_from_slice(&pattern(length, 3));
        lone.give(0, read_request(64, length as u32), &[]);
        let said = lone.said_in_full();
        let ops: Vec<_> = said.iter().map(|(packet, _)| packet.op).collect();
        let expected: Vec<_> = (0..count).map(|n| response(n, count, 1)).collect();
        assert_eq!(ops, expected);
        let (last, rest) = said.split_last().unwrap();
        assert!(rest.iter().all(|(_, data)| data.len() == MTU));
        assert!(last.1.len() <= MTU);
        let data: Vec<u8> = said.into_iter().flat_map(|(_, data)| data).collect();
        assert_eq!(data, pattern(length, 3));
    }
}
