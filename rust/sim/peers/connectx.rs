// SPDX-License-Identifier: GPL-2.0

//! A peer like a network card.
//!
//! It goes back N as well, but with exact timers and seven retries at most; asks again at once for
//! a READ response that is missing; sets the migration bit and sends codes of few credits that mean
//! nothing. It answers a repeated READ only if that ends where the original ended. And it is
//! [strict](super::strict): whatever comes that no requester may send fails the run.

use super::{
    habits::Habits,
    model::Model, //
};
use crate::endpoint::Endpoint;
use oxe_proto::transport::attributes::Config;

/// How it behaves.
pub const HABITS: Habits = Habits {
    window: 512,
    ack_every: 32,
    migrated: true,
    credits: &[0, 0x0e],
    tick: 1,
    endless_retries: false,
    asks_at_once: true,
    merges_acks: true,
    tells_after_not_ready: false,
    whole_repeats: true,
    strict: true,
};

/// An endpoint in RESET.
pub fn make(config: Config, slots: u32) -> Box<dyn Endpoint> {
    Box::new(Model::new(HABITS, config, slots))
}
