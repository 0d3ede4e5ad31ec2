// SPDX-License-Identifier: GPL-2.0

//! Synchronisation that the `kernel` crate lacks: lookup and publication under RCU.

mod id_table;
mod slot;

pub use id_table::{
    IdTable,
    Unlinked, //
};
pub use slot::{
    Published,
    Slot, //
};
