// SPDX-License-Identifier: GPL-2.0

//! Models of the peers that an engine has to get on with.
//!
//! They are complete reliable endpoints, written from descriptions of how such peers behave and not
//! from the engine. [`model`] is what they have in common, [`habits`] where they differ.

pub mod connectx;
pub mod gobackn;
pub mod habits;
pub mod model;

mod completer;
mod requester;
mod responder;
mod segment;
mod strict;
mod timers;
