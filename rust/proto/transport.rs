// SPDX-License-Identifier: GPL-2.0

//! The transport: one [`Engine`] per queue pair, without I/O.
//!
//! An engine has four kinds of methods. Events go in: `handle_packet`, `handle_timeout`,
//! `post_send`, `modify`, `payload_fault`. Effects come out: `poll_transmit`, `poll_early`,
//! `poll_completion`, `poll_event`. `next_timeout` says when it wants to be called without an
//! event. Time is an argument; memory, receive queues and observers are the [`ports::Env`] that is
//! passed in.
//!
//! After any number of events the driver polls, in this order, each until it returns nothing:
//!
//! 1. `poll_early`: a packet that was held has its turn; it goes to `handle_packet` again;
//! 2. `poll_transmit`: send the packet; its payload is copied before the engine is called again;
//! 3. `poll_completion`: a send request has ended, its slot is free;
//! 4. `poll_event`;
//! 5. `next_timeout`: arm one timer; if its time has come already, `handle_timeout` and all again.
//!
//! The driver may stop `poll_transmit` early, to share the processor, and go on later. No call does
//! more work than the window, the initiator depth and the responder's depth together make.
//!
//! Packets that came before their turn stay with the driver: `handle_packet` says which, and
//! `holds_early` whether there are any left.

mod asks;
pub mod attributes;
mod completer;
mod context;
mod engine;
pub mod error;
mod event;
pub mod ports;
mod repeats;
mod requester;
mod resend;
mod resources;
mod responder;
mod retry;
mod segment;
mod slots;
pub mod state;
mod window;
pub mod wr;

pub use self::{
    engine::{
        Engine,
        Storage, //
    },
    event::Event,
    resources::Resource,
    slots::SendSlot, //
};

use self::event::Events;
use crate::types::Span;

/// How long nothing is sent whose payload the driver could not get at for now.
const BUSY_PAUSE: Span = Span::from_micros(1000);

/// Indices that [`wr::EarlyIndex`] can have.
pub const EARLY_SLOTS: u32 = 1024;

/// What the engine decided about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It is done with it.
    Done,
    /// It came before its turn: keep it at this index, in place of what may be there, until
    /// `poll_early` names the index. A driver that cannot keep it calls `early_lost`.
    Hold(wr::EarlyIndex),
}

/// Why a send request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostError {
    /// All slots are in use.
    Full,
    /// Not in this state.
    State,
}
