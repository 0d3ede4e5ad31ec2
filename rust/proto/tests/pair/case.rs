// SPDX-License-Identifier: GPL-2.0

//! A request that a reliable responder refuses, and all that has to follow from it.

use super::{craft::*, pattern, Lone, Setup};
use oxe_proto::{
    transport::{
        error::WcStatus,
        state::{QpType, State},
        Event,
    },
    wire::{aeth::NakCode, packet::Op},
};

const MTU: usize = 256;

/// Gives `before`, which is fine, and then `bad`; checks that it is refused so and that nothing
/// moves afterwards. XRC targets are tried, too, if XRC has such packets.
pub(crate) struct Case<'c> {
    pub(crate) setup: Setup,
    pub(crate) before: &'c [(Op, usize)],
    pub(crate) bad: (Op, usize),
    pub(crate) code: NakCode,
    /// How receive requests end.
    pub(crate) received: &'c [WcStatus],
    pub(crate) prepare: fn(&mut Lone),
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            setup: Setup::default(),
            before: &[],
            bad: (send_only(), 0),
            code: NakCode::InvalidRequest,
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
    pub(crate) fn check(&self) {
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

pub(crate) fn refused(before: &[(Op, usize)], bad: (Op, usize), received: &[WcStatus]) {
    Case {
        before,
        bad,
        received,
        ..Case::default()
    }
    .check();
}

pub(crate) const REMOTE_INVALID: &[WcStatus] = &[WcStatus::RemoteInvalidRequest];
