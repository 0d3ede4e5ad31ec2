// SPDX-License-Identifier: GPL-2.0

//! Elements as providers write them come out as what was asked for, and wrong ones as a status.

mod support;

use oxe_proto::{
    transport::{
        error::WcStatus,
        state::QpType,
        wr::{
            SendOp,
            SendWr, //
        },
    },
    types::{
        Immediate,
        Qkey,
        Qpn,
        Rkey, //
    },
    wire::{
        atomic::AtomicEth,
        flush::Feth,
        packet::Tail, //
    },
};
use oxe_uabi::{
    av::Address,
    cqe::WcOpcode,
    recv::{
        self,
        RecvElement, //
    },
    send::{
        Bind,
        Destination,
        Detail,
        Gather,
        Request,
        Room,
        SendElement,
        SendQueue, //
    },
    sge::Sge,
};
use support::Element;

const FENCE: u32 = 1;
const SIGNALLED: u32 = 2;
const SOLICITED: u32 = 4;
const INLINE: u32 = 8;

const RC: SendQueue = SendQueue {
    qp_type: QpType::Rc,
    all_signalled: false,
};

const UD: SendQueue = SendQueue {
    qp_type: QpType::Ud,
    all_signalled: false,
};

const ADDRESS: u64 = 0x7f00_1122_3344_5560;
const RKEY: u32 = 0x00ab_cd01;
const SLOT: usize = 512;

/// Two pieces, of 100 and 20 bytes.
const LIST: [(u64, u32, u32); 2] = [(0x1000, 100, 0x11), (0x2000, 20, 0x22)];

fn request<'e>(element: &'e Element, queue: SendQueue) -> Request<'e> {
    let parsed = SendElement::parse(&element.raw, queue);
    assert_eq!(parsed.wr_id, 0x5151_5151_0000_0001);
    parsed.request.expect("a request")
}

fn status(element: &Element, queue: SendQueue) -> WcStatus {
    let parsed = SendElement::parse(&element.raw, queue);
    assert_eq!(parsed.wr_id, 0x5151_5151_0000_0001);
    assert_eq!(parsed.to_post(), SendWr::new(SendOp::Local, 0));
    parsed.request.expect_err("no request")
}

/// The list that a request has.
fn list(request: &Request<'_>) -> Vec<(u64, u32, u32)> {
    match &request.gather {
        Gather::Sges(sges) => sges
            .clone()
            .map(|Sge { addr, length, lkey }| (addr, length, lkey))
            .collect(),
        Gather::Inline(data) => panic!("{data:?} instead of a list"),
    }
}

/// A request with an address and a key of remote memory.
fn rdma(opcode: u32) -> Element {
    let mut element = Element::send(opcode, SLOT);
    element.u64(24, ADDRESS).u32(32, RKEY);
    element
}

fn atomic(opcode: u32) -> Element {
    let mut element = Element::send(opcode, SLOT);
    element.u64(24, ADDRESS).u64(32, 0x3232).u64(40, 0x4040);
    element.u32(48, RKEY).gather(&[(0x1000, 8, 0x11)]).length(8);
    element
}

fn flush(kind: u8, level: u8) -> Element {
    let mut element = Element::send(14, SLOT);
    element.u64(24, ADDRESS).u32(36, RKEY);
    element.bytes(40, &[kind, level]).length(4096);
    element
}

fn datagram(opcode: u32, ah: u32) -> Element {
    let mut element = Element::send(opcode, SLOT);
    element.u32(24, 0xff12_3456).u32(28, 0x8001_0000);
    element.u32(36, ah).gather(&LIST).length(120);
    element
}

#[test]
fn sends() {
    let tails = [
        (2, Tail::None),
        (3, Tail::Immediate(Immediate([1, 2, 3, 4]))),
        (9, Tail::Invalidate(Rkey(u32::from_ne_bytes([1, 2, 3, 4])))),
    ];
    for (opcode, tail) in tails {
        let mut element = Element::send(opcode, SLOT);
        element.bytes(20, &[1, 2, 3, 4]).gather(&LIST).length(120);
        let request = request(&element, RC);
        let mut wr = SendWr::new(SendOp::Send(tail), 120);
        wr.signalled = false;
        assert_eq!(request.wr, wr);
        assert_eq!(list(&request), LIST);
        assert_eq!(request.detail, Detail::None);
        let parsed = SendElement::parse(&element.raw, RC);
        assert_eq!(parsed.completes_as, WcOpcode::Send);
        assert_eq!(parsed.to_post(), wr);
    }
}

#[test]
fn writes_and_reads() {
    let (address, rkey) = (ADDRESS, Rkey(RKEY));
    let write = |immediate| SendOp::Write {
        address,
        rkey,
        immediate,
    };
    let ops = [
        (0, write(None), WcOpcode::Write),
        (1, write(Some(Immediate([5, 6, 7, 8]))), WcOpcode::Write),
        (4, SendOp::Read { address, rkey }, WcOpcode::Read),
    ];
    for (opcode, op, completes_as) in ops {
        let mut element = rdma(opcode);
        element.bytes(20, &[5, 6, 7, 8]).gather(&LIST).length(120);
        let request = request(&element, RC);
        assert_eq!((request.wr.op, request.wr.length), (op, 120));
        assert_eq!(list(&request), LIST);
        let parsed = SendElement::parse(&element.raw, RC);
        assert_eq!(parsed.completes_as, completes_as);
    }
}

#[test]
fn atomics() {
    let target = AtomicEth {
        address: ADDRESS,
        rkey: Rkey(RKEY),
        ..AtomicEth::default()
    };
    let swap = SendOp::CompareSwap(AtomicEth {
        swap_add: 0x4040,
        compare: 0x3232,
        ..target
    });
    let add = SendOp::FetchAdd(AtomicEth {
        swap_add: 0x3232,
        ..target
    });
    let ops = [
        (5, swap, WcOpcode::CompareSwap),
        (6, add, WcOpcode::FetchAdd),
    ];
    for (opcode, op, completes_as) in ops {
        let mut element = atomic(opcode);
        let wr = request(&element, RC).wr;
        assert_eq!((wr.op, wr.length), (op, 8));
        let parsed = SendElement::parse(&element.raw, RC);
        assert_eq!(parsed.completes_as, completes_as);

        // The provider lets longer lists pass, and shorter ones if they come from builders.
        element.gather(&[(0x1000, 12, 0x11)]);
        assert_eq!(request(&element, RC).wr.length, 8);
        element.gather(&[(0x1000, 4, 0x11)]);
        assert_eq!(request(&element, RC).wr.length, 4);
    }
}

#[test]
fn atomic_write_has_its_bytes_inline() {
    let mut element = rdma(15);
    element.length(8).bytes(208, b"eight by");
    let request = request(&element, RC);
    let op = SendOp::AtomicWrite {
        address: ADDRESS,
        rkey: Rkey(RKEY),
    };
    assert_eq!((request.wr.op, request.wr.length), (op, 8));
    assert_eq!(request.gather, Gather::Inline(b"eight by"));
}

#[test]
fn flushes() {
    for kind in 1..=3 {
        for level in 0..=1 {
            let element = flush(kind, level);
            let request = request(&element, RC);
            let feth = Feth {
                visible: kind & 1 != 0,
                persistent: kind & 2 != 0,
                whole_region: level == 1,
            };
            let op = SendOp::Flush {
                feth,
                address: ADDRESS,
                rkey: Rkey(RKEY),
            };
            assert_eq!((request.wr.op, request.wr.length), (op, 4096));
            assert_eq!(list(&request), []);
        }
    }
    for (kind, level) in [(0, 0), (4, 0), (7, 1), (1, 2), (1, 255)] {
        assert_eq!(status(&flush(kind, level), RC), WcStatus::LocalQpOperation);
    }
}

#[test]
fn local_work() {
    let mut element = Element::send(7, SLOT);
    element.u32(20, RKEY).gather(&LIST);
    let invalidate = request(&element, RC);
    assert_eq!((invalidate.wr.op, invalidate.wr.length), (SendOp::Local, 0));
    assert!(invalidate.wr.fence, "nobody may use the key any more");
    assert_eq!(invalidate.detail, Detail::Invalidate(Rkey(RKEY)));
    assert_eq!(list(&invalidate), []);

    let mut element = Element::send(8, SLOT);
    element.u64(24, ADDRESS).u64(32, 1 << 40).u32(40, 0x77);
    element.u32(44, 0x1201).u32(48, 0x1202).u32(52, 0xf);
    let bind = request(&element, RC);
    assert_eq!((bind.wr.op, bind.wr.fence), (SendOp::Local, false));
    let wanted = Bind {
        window: Rkey(0x1201),
        rkey: Rkey(0x1202),
        lkey: 0x77,
        addr: ADDRESS,
        length: 1 << 40,
        access: 0xf,
    };
    assert_eq!(bind.detail, Detail::Bind(wanted));
    for (opcode, completes_as) in [(7, WcOpcode::LocalInvalidate), (8, WcOpcode::BindWindow)] {
        let element = Element::send(opcode, SLOT);
        let parsed = SendElement::parse(&element.raw, RC);
        assert_eq!(parsed.completes_as, completes_as);
    }
}

#[test]
fn datagrams() {
    for (opcode, immediate) in [(2, None), (3, Some(Immediate([9, 9, 9, 1])))] {
        let mut element = datagram(opcode, 5);
        element.bytes(20, &[9, 9, 9, 1]);
        let request = request(&element, UD);
        let op = SendOp::Datagram {
            dest_qp: Qpn::from_low_bits(0x12_3456),
            qkey: Qkey(0x8001_0000),
            immediate,
        };
        assert_eq!((request.wr.op, request.wr.length), (op, 120));
        let Detail::Datagram(Destination::Handle(number)) = request.detail else {
            panic!("{:?}", request.detail);
        };
        assert_eq!(number.get(), 5);
    }
}

#[test]
fn datagrams_of_old_providers_have_the_address_in_them() {
    let mut element = datagram(2, 0);
    element.bytes(56, &[1, 1]).bytes(56 + 64, &[192, 0, 2, 9]);
    let Detail::Datagram(Destination::Vector(av)) = request(&element, UD).detail else {
        panic!("no vector");
    };
    assert_eq!(av.port, 1);
    assert_eq!(av.destination, Address::V4([192, 0, 2, 9]));

    element.bytes(57, &[3]);
    assert_eq!(status(&element, UD), WcStatus::LocalQpOperation);
}

#[test]
fn flags() {
    let all = SendQueue {
        all_signalled: true,
        ..RC
    };
    for flags in 0..16 {
        let mut element = Element::send(2, SLOT);
        element.flags(flags | 0xffff_0000);
        for queue in [RC, all] {
            let request = request(&element, queue);
            let signalled = flags & SIGNALLED != 0 || queue.all_signalled;
            assert_eq!(request.wr.signalled, signalled);
            assert_eq!(request.wr.fence, flags & FENCE != 0);
            assert_eq!(request.wr.solicited, flags & SOLICITED != 0);
            let inline = matches!(request.gather, Gather::Inline([]));
            assert_eq!(inline, flags & INLINE != 0);
        }
    }
}

#[test]
fn inline_data() {
    for opcode in [0, 1, 2, 3, 9, 15] {
        // With the flag, a list that was copied in says nothing.
        let mut element = rdma(opcode);
        element.flags(INLINE).length(5).u32(196, 2);
        element.bytes(208, b"inline");
        assert_eq!(request(&element, RC).gather, Gather::Inline(b"inlin"));

        // Builders leave the flag out.
        element.flags(0).u32(196, 0).length(6);
        let request = request(&element, RC);
        assert_eq!(request.gather, Gather::Inline(b"inline"));
        assert_eq!(request.wr.length, 6);
    }
    let mut element = datagram(2, 1);
    element.flags(INLINE).length(4).bytes(208, b"data");
    assert_eq!(request(&element, UD).gather, Gather::Inline(b"data"));
}

#[test]
fn inline_data_ends_with_the_slot() {
    let mut element = Element::send(2, 208 + 48);
    element.flags(INLINE).length(48);
    assert_eq!(request(&element, RC).wr.length, 48);
    for length in [49, 1 << 20, u32::MAX] {
        element.length(length);
        assert_eq!(status(&element, RC), WcStatus::LocalLength);
    }
}

#[test]
fn what_comes_back_cannot_go_into_the_element() {
    for mut element in [rdma(4), atomic(5), atomic(6)] {
        element.flags(INLINE);
        assert_eq!(status(&element, RC), WcStatus::LocalQpOperation);
    }
}

#[test]
fn lists_end_with_the_slot() {
    let mut element = Element::send(2, 208 + 3 * 16);
    element.u32(196, 3);
    assert_eq!(list(&request(&element, RC)).len(), 3);
    for count in [4, 0x1000_0000, 0x1000_0001, u32::MAX] {
        element.u32(196, count);
        assert_eq!(status(&element, RC), WcStatus::LocalQpOperation);
    }
}

#[test]
fn the_length_is_the_sum_of_the_list() {
    let mut element = Element::send(2, SLOT);
    element.gather(&LIST).length(7);
    assert_eq!(request(&element, RC).wr.length, 120);

    let half = 1 << 30;
    element.gather(&[(0, half, 1), (0, half, 1)]);
    assert_eq!(request(&element, RC).wr.length, 1 << 31);
    element.gather(&[(0, half, 1), (0, half, 1), (0, 1, 1)]);
    assert_eq!(status(&element, RC), WcStatus::LocalLength);
    // 2^32 and a bit.
    element.gather(&[(0, 1 << 31, 1), (0, 1 << 31, 1), (0, 64, 1)]);
    assert_eq!(status(&element, RC), WcStatus::LocalLength);
}

#[test]
fn what_users_may_not_ask_for() {
    // TSO, READ with invalidate, masked atomics, registering memory, what there is not.
    for opcode in [10, 11, 12, 13, 16, 0x20, 0x21, 0xf0, 0x100, u32::MAX] {
        for queue in [RC, UD] {
            let element = Element::send(opcode, SLOT);
            assert_eq!(status(&element, queue), WcStatus::LocalQpOperation);
        }
    }
    for opcode in [0, 1, 4, 5, 6, 7, 8, 9, 14, 15] {
        assert_eq!(status(&datagram(opcode, 1), UD), WcStatus::LocalQpOperation);
    }
}

#[test]
fn room_for_lists_is_room_for_data() {
    let room = |sges, inline_bytes| {
        let room = Room::new(sges, inline_bytes).unwrap();
        (room.sges(), room.inline_bytes(), room.element_bytes())
    };
    assert_eq!(room(0, 0), (0, 0, 208));
    assert_eq!(room(1, 0), (1, 16, 224));
    assert_eq!(room(2, 100), (6, 100, 308));
    assert_eq!(room(32, 512), (32, 512, 720));
    assert_eq!(Room::new(0, u32::MAX), None);
    assert_eq!(Room::new(u32::MAX, 0), None);
    assert_eq!(recv::element_bytes(0), Some(40));
    assert_eq!(recv::element_bytes(32), Some(552));
    assert_eq!(recv::element_bytes(u32::MAX / 16), None);
}

#[test]
fn half_an_element_is_none() {
    let parsed = SendElement::parse(&[0xff; 207], RC);
    assert_eq!(parsed.request, Err(WcStatus::LocalQpOperation));
    let parsed = RecvElement::parse(&[0xff; 39]);
    assert_eq!(parsed.buffers, Err(WcStatus::LocalQpOperation));
}

#[test]
fn receives() {
    let mut element = Element::receive(40 + 3 * 16);
    element.scatter(&LIST).u32(16, 7);
    let parsed = RecvElement::parse(&element.raw);
    assert_eq!(parsed.wr_id, 0x5252_5252_0000_0002);
    let buffers = parsed.buffers.unwrap();
    assert_eq!(buffers.capacity, 120);
    assert_eq!(buffers.sges.len(), 2);
    let last = buffers.sges.last().unwrap();
    assert_eq!((last.addr, last.length, last.lkey), LIST[1]);

    element.u32(28, 4);
    let parsed = RecvElement::parse(&element.raw);
    assert_eq!(parsed.buffers, Err(WcStatus::LocalQpOperation));

    element.scatter(&[(0, 1 << 31, 1), (0, 1 << 31, 1)]);
    let parsed = RecvElement::parse(&element.raw);
    assert_eq!(parsed.buffers, Err(WcStatus::LocalLength));
}
