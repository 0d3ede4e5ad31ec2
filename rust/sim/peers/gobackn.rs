// SPDX-License-Identifier: GPL-2.0

//! A peer that goes back N, as the kernel's soft RoCE does.
//!
//! Its responder drops everything behind a gap and says so once. Its requester sends everything
//! from the gap on again, at most 128 packets at a time, and does not believe an acknowledgement of
//! what it has not sent again yet. Its timers count in ticks of 4 ms.

use super::{
    habits::Habits,
    model::Model, //
};
use crate::{
    endpoint::Endpoint,
    events::MILLISECOND, //
};
use oxe_proto::transport::attributes::Config;

/// How it behaves.
pub const HABITS: Habits = Habits {
    window: 128,
    ack_every: 65,
    migrated: false,
    credits: &[31],
    tick: 4 * MILLISECOND,
    endless_retries: true,
    asks_at_once: false,
    merges_acks: false,
    tells_after_not_ready: true,
    whole_repeats: false,
    strict: false,
};

/// An endpoint in RESET.
pub fn make(config: Config, slots: u32) -> Box<dyn Endpoint> {
    Box::new(Model::new(HABITS, config, slots))
}
