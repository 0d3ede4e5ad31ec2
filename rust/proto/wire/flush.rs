// SPDX-License-Identifier: GPL-2.0

//! FLUSH extended transport header (FETH).

/// How far a FLUSH carries what was written before it, and of which memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feth {
    /// To where every reader of the memory sees it.
    pub visible: bool,
    /// To where it survives a loss of power.
    pub persistent: bool,
    /// The whole region; otherwise the range that the request names.
    pub whole_region: bool,
}
