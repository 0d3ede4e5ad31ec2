// SPDX-License-Identifier: GPL-2.0

//! Requests that a reliable responder refuses: what the peer hears, how the receive request ends,
//! and what becomes of the queue pair.

mod pair;

use oxe_proto::{
    transport::{
        attributes::Access,
        error::{Fault, WcStatus},
        ports::Observation,
        state::{QpType, State},
        Event,
    },
    types::{Pkey, Rkey, MAX_MESSAGE_BYTES},
    wire::{
        aeth::NakCode,
        atomic::AtomicEth,
        flush::Feth,
        packet::{Op, Packet, Service, Tail},
        reth::Reth,
    },
};
use pair::{craft::*, pattern, Lone, Setup, BASE};

const INVALID: NakCode = NakCode::InvalidRequest;
const ACCESS: NakCode = NakCode::RemoteAccess;
const OPERATIONAL: NakCode = NakCode::RemoteOperational;
const MTU: usize = 256;

/// Gives `before`, which is fine, and then `bad`; checks that it is refused so and that nothing
/// moves afterwards. XRC targets are tried, too, if XRC has such packets.
struct Case<'c> {
    setup: Setup,
    before: &'c [(Op, usize)],
    bad: (Op, usize),
    code: NakCode,
    /// How receive requests end.
    received: &'c [WcStatus],
    prepare: fn(&mut Lone),
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            setup: Setup::default(),
            before: &[],
            bad: (send_only(), 0),
            code: INVALID,
            received: &[],
            prepare: |_| (),
        }
    }
}

/// Packet sequence numbers and messages of a request.
fn cost(op: Op) -> (i64, u32) {
    let numbers = match op {
        Op::ReadRequest(reth) => i64::from(reth.length.div_ceil(MTU as u32).max(1)),
        _ => 1,
    };
    (numbers, u32::from(op.position().is_end()))
}

impl Case<'_> {
    fn check(&self) {
        self.check_on(QpType::Rc);
        let of_xrc = |op: &Op| !matches!(op, Op::Flush(..) | Op::AtomicWrite(_));
        if of_xrc(&self.bad.0) {
            self.check_on(QpType::XrcTgt);
        }
    }

    fn check_on(&self, qp_type: QpType) {
        let name = format!("{qp_type:?} {:?} after {:?}", self.bad, self.before);
        let setup = Setup {
            qp_type,
            ..self.setup.clone()
        };
        let mut lone = Lone::new(&setup);
        lone.side.host.receives.extend([vec![0; 600], vec![0; 600]]);
        (self.prepare)(&mut lone);
        let (mut at, mut msn) = (0, 0);
        for &(op, bytes) in self.before {
            lone.give(at, op, &pattern(bytes, 1));
            at += cost(op).0;
            msn += cost(op).1;
        }
        lone.said();
        assert_eq!(lone.state(), State::Rts, "{name}");
        let memory = lone.side.host.memory.clone();

        let said = lone.ask(at, self.bad.0, &pattern(self.bad.1, 2));
        assert_eq!(said, [(at, nak(self.code, msn))], "{name}");
        assert_eq!(lone.state(), State::Err, "{name}");
        assert_eq!(lone.side.host.receive_statuses(), self.received, "{name}");
        let events: &[_] = match self.code {
            NakCode::RemoteAccess => &[Event::AccessError, Event::Failed],
            NakCode::RemoteOperational => &[Event::Failed],
            _ => &[Event::RequestError, Event::Failed],
        };
        assert_eq!(lone.side.events, events, "{name}");
        assert_eq!(lone.side.host.memory, memory, "{name}");

        // Neither duplicates nor the same again nor new requests are answered.
        for (n, &(op, bytes)) in self.before.iter().enumerate() {
            assert_eq!(lone.ask(n as i64, op, &pattern(bytes, 1)), [], "{name}");
        }
        assert_eq!(lone.ask(at, self.bad.0, &pattern(self.bad.1, 2)), []);
        assert_eq!(lone.ask(at + 1, send_only(), b"more"), [], "{name}");
        assert_eq!(lone.side.host.received.len(), self.received.len(), "{name}");
        assert_eq!(lone.side.events, events, "{name}");
        assert_eq!(lone.side.host.memory, memory, "{name}");
    }
}

fn refused(before: &[(Op, usize)], bad: (Op, usize), received: &[WcStatus]) {
    Case {
        before,
        bad,
        received,
        ..Case::default()
    }
    .check();
}

const REMOTE_INVALID: &[WcStatus] = &[WcStatus::RemoteInvalidRequest];

#[test]
fn a_message_cannot_start_in_its_middle() {
    for bad in [
        (Op::SendMiddle, MTU),
        (send_last(), 10),
        (Op::SendLast(Tail::Immediate(IMM)), 10),
        (Op::SendLast(Tail::Invalidate(pair::RKEY)), 10),
        (Op::WriteMiddle, MTU),
        (Op::WriteLast(None), 10),
        (Op::WriteLast(Some(IMM)), 10),
    ] {
        refused(&[], bad, &[]);
        refused(&[(write_only(0, 9), 9)], bad, &[]);
    }
}

/// One of each kind that starts a request.
fn starts() -> [(Op, usize); 9] {
    [
        (Op::SendFirst, MTU),
        (send_only(), 4),
        (Op::WriteFirst(reth(0x100, 300)), MTU),
        (write_only(0x100, 4), 4),
        (read_request(0, 10), 0),
        (fetch_add(0), 0),
        (Op::CompareSwap(atomic_at(8)), 0),
        (Op::Flush(VISIBLE, reth(0, 8)), 0),
        (Op::AtomicWrite(reth(0, 8)), 8),
    ]
}

#[test]
fn a_message_cannot_start_within_another() {
    for bad in starts() {
        refused(&[(Op::SendFirst, MTU)], bad, REMOTE_INVALID);
        refused(&[(Op::WriteFirst(reth(0, 600)), MTU)], bad, &[]);
    }
    for bad in [
        (Op::WriteMiddle, MTU),
        (Op::WriteLast(None), 10),
        (Op::WriteLast(Some(IMM)), 10),
    ] {
        refused(&[(Op::SendFirst, MTU)], bad, REMOTE_INVALID);
    }
    for bad in [(Op::SendMiddle, MTU), (send_last(), 10)] {
        refused(&[(Op::WriteFirst(reth(0, 600)), MTU)], bad, &[]);
    }
}

#[test]
fn what_the_queue_pair_does_not_allow_is_an_invalid_request() {
    type Forbid = fn(&mut Access);
    let no_write: Forbid = |access| access.remote_write = false;
    let no_read: Forbid = |access| access.remote_read = false;
    let no_atomic: Forbid = |access| access.remote_atomic = false;
    let no_global: Forbid = |access| access.flush_global = false;
    let no_persistent: Forbid = |access| access.flush_persistent = false;
    let both = Feth {
        visible: true,
        persistent: true,
        whole_region: true,
    };
    let nothing = Feth::default();
    for (forbid, bad) in [
        (no_write, (write_only(0, 4), 4)),
        (no_write, (Op::WriteFirst(reth(0, 300)), MTU)),
        (no_write, (Op::WriteOnly(reth(0, 4), Some(IMM)), 4)),
        // Also where no memory is touched.
        (no_write, (write_only(0, 0), 0)),
        (no_write, (Op::AtomicWrite(reth(0, 8)), 8)),
        (no_read, (read_request(0, 4), 0)),
        (no_read, (read_request(0, 0), 0)),
        (no_atomic, (fetch_add(0), 0)),
        (no_atomic, (Op::CompareSwap(atomic_at(0)), 0)),
        (no_global, (Op::Flush(VISIBLE, reth(0, 4)), 0)),
        (no_global, (Op::Flush(both, reth(0, 4)), 0)),
        (no_persistent, (Op::Flush(PERSISTENT, reth(0, 4)), 0)),
        (no_persistent, (Op::Flush(both, reth(0, 4)), 0)),
        // One that asks for nothing or for what is reserved.
        (|_| (), (Op::Flush(nothing, reth(0, 4)), 0)),
    ] {
        Case {
            setup: Setup::with(|attributes| forbid(&mut attributes.access)),
            bad,
            ..Case::default()
        }
        .check();
    }
    // A SEND needs no right.
    let mut lone = Lone::new(&Setup::with(|attributes| {
        attributes.access = Access::default()
    }));
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
}

#[test]
fn more_reads_and_atomics_than_agreed_are_refused() {
    let setup = Setup::with(|attributes| attributes.max_dest_rd_atomic = 2);
    let mut lone = Lone::new(&setup);
    lone.give(0, read_request(0, 300), &[]);
    lone.give(2, fetch_add(0), &[]);
    lone.give(3, read_request(0, 10), &[]);
    assert_eq!(
        lone.said(),
        [
            (0, response(0, 2, 1)),
            (1, response(1, 2, 1)),
            (2, Op::AtomicAcknowledge(acknowledged(2), 0)),
            (3, nak(INVALID, 2)),
        ]
    );
    assert_eq!(lone.state(), State::Err);
    assert_eq!(lone.side.events, [Event::RequestError, Event::Failed]);

    for bad in starts().into_iter().skip(4) {
        Case {
            setup: Setup::with(|attributes| attributes.max_dest_rd_atomic = 0),
            bad,
            ..Case::default()
        }
        .check();
    }
}

#[test]
fn as_many_reads_as_agreed_are_served_again_and_again() {
    let setup = Setup::with(|attributes| attributes.max_dest_rd_atomic = 2);
    let mut lone = Lone::new(&setup);
    for n in 0..20 {
        lone.give(2 * n, read_request(0, 10), &[]);
        lone.give(2 * n + 1, fetch_add(0), &[]);
        assert!(lone.said().len() >= 2);
    }
    assert_eq!(lone.state(), State::Rts);
    assert_eq!(lone.side.host.atomics, 20);
}

#[test]
fn operands_of_atomics_are_aligned() {
    for offset in [1, 2, 4, 7, 9, 0x1004] {
        refused(&[], (fetch_add(offset), 0), &[]);
        refused(&[], (Op::CompareSwap(atomic_at(offset)), 0), &[]);
        refused(&[], (Op::AtomicWrite(reth(offset, 8)), 8), &[]);
    }
}

#[test]
fn packets_have_the_length_of_their_place() {
    let first = &[(Op::SendFirst, MTU)][..];
    for bytes in [0, 1, MTU - 1, MTU + 1, 2 * MTU] {
        refused(&[], (Op::SendFirst, bytes), &[]);
        refused(first, (Op::SendMiddle, bytes), REMOTE_INVALID);
    }
    for bytes in [0, MTU + 1] {
        refused(first, (send_last(), bytes), REMOTE_INVALID);
    }
    refused(&[], (send_only(), MTU + 1), &[]);
    // The engine refuses data where a request has none, should a parser let it through.
    refused(&[], (read_request(0, 10), 4), &[]);
    refused(&[], (fetch_add(0), 4), &[]);
    refused(&[], (Op::Flush(VISIBLE, reth(0, 8)), 4), &[]);
}

#[test]
fn a_write_is_as_long_as_it_said() {
    for (said, bytes) in [(10, 9), (10, 11), (0, 1), (1, 0), (256, 255), (300, 256)] {
        refused(&[], (write_only(0, said), bytes), &[]);
        let with_immediate = Op::WriteOnly(reth(0, said), Some(IMM));
        refused(&[], (with_immediate, bytes), &[]);
    }
    // One that fits a packet has no FIRST; a FIRST is full.
    for (said, bytes) in [(0, MTU), (255, MTU), (256, MTU), (600, 255), (600, 257)] {
        refused(&[], (Op::WriteFirst(reth(0, said)), bytes), &[]);
    }
    let first = &[(Op::WriteFirst(reth(0, 600)), MTU)][..];
    for bytes in [0, 1, 255] {
        refused(first, (Op::WriteMiddle, bytes), &[]);
    }
    for bytes in [0, 88, 256] {
        // 344 bytes are to come.
        refused(first, (Op::WriteLast(None), bytes), &[]);
        refused(first, (Op::WriteLast(Some(IMM)), bytes), &[]);
    }
    let second = &[(Op::WriteFirst(reth(0, 600)), MTU), (Op::WriteMiddle, MTU)][..];
    for bytes in [0, 87, 89, 256] {
        refused(second, (Op::WriteLast(None), bytes), &[]);
        refused(second, (Op::WriteLast(Some(IMM)), bytes), &[]);
    }
    refused(second, (Op::WriteMiddle, MTU), &[]);
    // Without a LAST.
    let exact = &[(Op::WriteFirst(reth(0, 512)), MTU)][..];
    refused(exact, (Op::WriteMiddle, MTU), &[]);
}

#[test]
fn no_message_is_longer_than_two_gigabytes() {
    for length in [MAX_MESSAGE_BYTES + 1, u32::MAX] {
        refused(&[], (Op::WriteFirst(reth(0, length)), MTU), &[]);
        refused(&[], (read_request(0, length), 0), &[]);
    }
}

#[test]
fn a_send_stops_at_two_gigabytes() {
    let setup = Setup {
        mtu: oxe_proto::types::Mtu::B4096,
        ..Setup::default()
    };
    let mut lone = Lone::new(&setup);
    lone.side.host.forgetful = true;
    lone.side.host.receives.push_back(Vec::new());
    let data = vec![0; 4096];
    let last = i64::from(MAX_MESSAGE_BYTES / 4096);
    for n in 0..last {
        let op = if n == 0 {
            Op::SendFirst
        } else {
            Op::SendMiddle
        };
        let packet = Packet {
            ack_req: false,
            ..lone.packet(n, op, 4096)
        };
        let env = &mut lone.side.host;
        let verdict = lone
            .side
            .engine
            .handle_packet(lone.now, &packet, data.as_slice(), env);
        assert_eq!(verdict, oxe_proto::transport::Verdict::Done);
    }
    assert_eq!(lone.state(), State::Rts);
    assert_eq!(lone.ask(last, send_last(), b"x"), [(last, nak(INVALID, 0))]);
    assert_eq!(lone.side.host.received.len(), 1);
}

#[test]
fn an_atomic_write_has_eight_bytes() {
    for (said, bytes) in [(8, 7), (8, 9), (7, 8), (16, 8), (16, 16), (0, 0), (4, 4)] {
        refused(&[], (Op::AtomicWrite(reth(0, said)), bytes), &[]);
    }
}

#[test]
fn a_message_that_does_not_fit_its_receive_request_ends_it() {
    // rxe reports an invalid request, hfi1 a failed operation; manuals tell users to expect a
    // length error, and so do we.
    let too_long = &[WcStatus::LocalLength][..];
    let small: fn(&mut Lone) = |lone| lone.side.host.receives[0].truncate(300);
    let first = (Op::SendFirst, MTU);
    for (before, bad) in [
        (&[first][..], (Op::SendMiddle, MTU)),
        (&[first], (send_last(), 45)),
        (&[first], (Op::SendLast(Tail::Immediate(IMM)), 256)),
    ] {
        Case {
            before,
            bad,
            received: too_long,
            prepare: small,
            ..Case::default()
        }
        .check();
    }
    Case {
        bad: (send_only(), 1),
        received: too_long,
        prepare: |lone| lone.side.host.receives[0].clear(),
        ..Case::default()
    }
    .check();
}

/// Memory that the peer must not touch.
fn forbidden() -> Vec<Reth> {
    let beyond = 1 << 20;
    vec![
        Reth {
            rkey: BAD_KEY,
            ..reth(0, 16)
        },
        reth(beyond - 8, 16),
        reth(beyond, 16),
        reth(0u64.wrapping_sub(8), 16),
        Reth {
            address: u64::MAX - 7,
            ..reth(0, 16)
        },
    ]
}

#[test]
fn keys_and_ranges_are_checked() {
    let bad_access = |bad| {
        Case {
            bad,
            code: ACCESS,
            ..Case::default()
        }
        .check();
    };
    for memory in forbidden() {
        bad_access((Op::WriteOnly(memory, None), 16));
        bad_access((Op::ReadRequest(memory), 0));
        bad_access((Op::Flush(VISIBLE, memory), 0));
        let long = Reth {
            length: 600,
            ..memory
        };
        bad_access((Op::WriteFirst(long), MTU));
        bad_access((Op::ReadRequest(long), 0));
    }
    for memory in forbidden().into_iter().filter(|m| m.address % 8 == 0) {
        if memory.address == BASE + (1 << 20) - 8 {
            continue;
        }
        let atomic = AtomicEth {
            address: memory.address,
            rkey: memory.rkey,
            ..AtomicEth::default()
        };
        bad_access((Op::FetchAdd(atomic), 0));
        bad_access((Op::CompareSwap(atomic), 0));
        let eight = Reth {
            length: 8,
            ..memory
        };
        bad_access((Op::AtomicWrite(eight), 8));
    }
    // The range is that of the whole message: nothing is written before the fault.
    let tail_outside = reth((1 << 20) - 300, 600);
    bad_access((Op::WriteFirst(tail_outside), MTU));
}

#[test]
fn an_access_fault_ends_the_receive_request_in_use() {
    // The key is lost under way, with the receive request taken or just before.
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    lone.side.host.faults = [Some(Fault::Access)].into();
    let said = lone.ask(0, Op::WriteOnly(reth(0, 4), Some(IMM)), b"abcd");
    assert_eq!(said, [(0, nak(ACCESS, 0))]);
    assert_eq!(lone.state(), State::Err);
    let statuses = lone.side.host.receive_statuses();
    assert!(
        statuses.is_empty() || statuses == [WcStatus::RemoteAccess],
        "{statuses:?}"
    );
    assert_eq!(lone.side.events, [Event::AccessError, Event::Failed]);
}

#[test]
fn keys_of_empty_accesses_are_not_checked() {
    let nowhere = Reth {
        address: 3,
        rkey: Rkey(0),
        length: 0,
    };
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(Vec::new());
    assert_eq!(
        lone.ask(0, Op::WriteOnly(nowhere, None), b""),
        [(0, ack(1))]
    );
    let immediate = Op::WriteOnly(nowhere, Some(IMM));
    assert_eq!(lone.ask(1, immediate, b""), [(1, ack(2))]);
    assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
    let said = lone.ask(2, Op::ReadRequest(nowhere), b"");
    assert_eq!(said[0], (2, response(0, 1, 3)));
    // An empty SEND takes a receive request.
    lone.side.host.receives.push_back(Vec::new());
    assert_eq!(lone.ask(3, send_only(), b""), [(3, ack(4))]);
    assert!(lone.side.host.receives.is_empty());
    assert_eq!(lone.side.host.received[1].0.bytes, 0);
}

#[test]
fn memory_that_fails_is_an_operational_error() {
    for bad in [
        (write_only(0, 4), 4),
        (fetch_add(0), 0),
        (Op::CompareSwap(atomic_at(0)), 0),
        (Op::Flush(VISIBLE, reth(0, 4)), 0),
        (Op::AtomicWrite(reth(0, 8)), 8),
    ] {
        Case {
            bad,
            code: OPERATIONAL,
            prepare: |lone| lone.side.host.faults = [Some(Fault::Operational)].into(),
            ..Case::default()
        }
        .check();
    }
}

#[test]
fn a_bad_receive_request_is_told_as_an_operational_error() {
    for bad in [
        (send_only(), 4),
        (Op::SendFirst, MTU),
        (Op::WriteOnly(reth(0, 0), Some(IMM)), 0),
    ] {
        Case {
            bad,
            code: OPERATIONAL,
            received: &[WcStatus::LocalQpOperation],
            prepare: |lone| {
                let host = &mut lone.side.host;
                host.bad_receives.push_back(WcStatus::LocalQpOperation);
            },
            ..Case::default()
        }
        .check();
    }
    Case {
        bad: (send_only(), 4),
        code: OPERATIONAL,
        received: &[WcStatus::LocalProtection],
        prepare: |lone| lone.side.host.receive_faults = [Some(Fault::Access)].into(),
        ..Case::default()
    }
    .check();
    Case {
        before: &[(Op::SendFirst, MTU)],
        bad: (send_last(), 4),
        code: OPERATIONAL,
        received: &[WcStatus::LocalProtection],
        prepare: |lone| lone.side.host.receive_faults = [None, Some(Fault::Access)].into(),
        ..Case::default()
    }
    .check();
}

#[test]
fn a_key_that_cannot_be_invalidated_fails_without_a_word() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    let said = lone.ask(0, Op::SendOnly(Tail::Invalidate(BAD_KEY)), b"abcd");
    assert_eq!(said, []);
    assert_eq!(lone.side.host.receive_statuses(), REMOTE_INVALID);
    assert_eq!(lone.state(), State::Err);
    assert!(lone.side.events.contains(&Event::Failed));
}

#[test]
fn what_is_for_another_service_or_partition_is_dropped() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    for service in [Service::Uc, Service::Ud, Service::Xrc] {
        let packet = Packet {
            service,
            ..lone.packet(0, send_only(), 0)
        };
        lone.side.receive(lone.now, packet, Vec::new());
    }
    for pkey in [Pkey(0x7ffe), Pkey(0xfffe), Pkey(0), Pkey(0x8000)] {
        let packet = Packet {
            pkey,
            ..lone.packet(0, send_only(), 0)
        };
        lone.side.receive(lone.now, packet, Vec::new());
    }
    assert_eq!(lone.said(), []);
    assert_eq!(lone.state(), State::Rts);
    let host = &lone.side.host;
    assert_eq!(host.count(|seen| *seen == Observation::Unexpected), 3);
    assert_eq!(host.count(|seen| *seen == Observation::BadPkey), 4);
    assert!(host.received.is_empty() && lone.side.events.is_empty());
    // A limited member may talk to a full one.
    let packet = Packet {
        pkey: Pkey(0x7fff),
        ..lone.packet(0, send_only(), 0)
    };
    lone.side.receive(lone.now, packet, Vec::new());
    assert_eq!(lone.said(), [(0, ack(1))]);
}

#[test]
fn answers_before_the_refused_request_are_still_sent() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    lone.give(0, read_request(0, 600), &[]);
    lone.give(3, fetch_add(0), &[]);
    lone.give(4, send_only(), b"abcd");
    lone.give(5, Op::WriteOnly(forbidden()[0], None), &[0; 16]);
    assert_eq!(lone.state(), State::Err);
    assert_eq!(
        lone.said(),
        [
            (0, response(0, 3, 1)),
            (1, response(1, 3, 1)),
            (2, response(2, 3, 1)),
            (3, Op::AtomicAcknowledge(acknowledged(2), 0)),
            (5, nak(ACCESS, 3)),
        ]
    );
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
}

#[test]
fn a_fault_within_a_read_response_is_told_with_its_number() {
    for (fault, code) in [(Fault::Access, ACCESS), (Fault::Operational, OPERATIONAL)] {
        let mut lone = Lone::usual();
        lone.side.host.payload_faults = [None, None, Some(fault)].into();
        lone.give(0, read_request(0, 10), &[]);
        lone.give(1, read_request(0, 1000), &[]);
        lone.give(5, read_request(0, 10), &[]);
        let said = lone.said();
        assert_eq!(said[..2], [(0, response(0, 1, 1)), (1, response(0, 4, 2))]);
        assert_eq!(said.len(), 3, "{said:?}");
        let (2, Op::Acknowledge(aeth)) = said[2] else {
            panic!("{said:?}");
        };
        assert_eq!(aeth.syndrome, oxe_proto::wire::aeth::Syndrome::Nak(code));
        assert_eq!(lone.state(), State::Err);
        assert_eq!(lone.side.events.last(), Some(&Event::Failed));
        let expects_access = code == ACCESS;
        assert_eq!(
            lone.side.events.contains(&Event::AccessError),
            expects_access
        );
        assert_eq!(lone.ask(6, send_only(), b""), []);
    }
}

#[test]
fn a_fault_of_a_read_outranks_the_refusal_behind_it() {
    let mut lone = Lone::usual();
    lone.side.host.payload_faults = [None, Some(Fault::Access)].into();
    lone.give(0, read_request(0, 600), &[]);
    lone.give(3, Op::SendMiddle, &[0; MTU]);
    let said = lone.said();
    assert_eq!(said[0], (0, response(0, 3, 1)));
    assert!(matches!(said[1..], [(1, Op::Acknowledge(_))]), "{said:?}");
    assert_eq!(said[1].1, nak(ACCESS, 1));
}

#[test]
fn a_failed_queue_pair_with_a_shared_queue_says_that_it_takes_no_more() {
    let setup = Setup {
        shared_receive: true,
        ..Setup::default()
    };
    let mut lone = Lone::new(&setup);
    lone.ask(0, Op::SendMiddle, &[0; MTU]);
    assert_eq!(
        lone.side.events,
        [Event::RequestError, Event::Failed, Event::LastWqeReached]
    );
}
