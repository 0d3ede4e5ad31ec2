// SPDX-License-Identifier: GPL-2.0

//! The network: a link for each direction between two hosts, with its faults.

mod link;
mod plan;
mod spoil;

pub use self::{
    link::{
        Fate,
        Link, //
    },
    plan::{
        Burst,
        LinkPlan,
        Pauses,
        Reorder, //
    },
};

use crate::rng::Rng;

/// All links.
pub struct Network {
    hosts: usize,
    links: Vec<Link>,
}

impl Network {
    /// Links between so many hosts, planned by a function of sender and receiver.
    pub fn new(seed: u64, hosts: usize, plan: impl Fn(usize, usize) -> LinkPlan) -> Self {
        let links = (0..hosts * hosts)
            .map(|index| {
                let rng = Rng::new(seed, "link", index as u64);
                Link::new(plan(index / hosts, index % hosts), rng)
            })
            .collect();
        Self { hosts, links }
    }

    /// The link from one host to another.
    pub fn link(&mut self, from: usize, to: usize) -> &mut Link {
        &mut self.links[from * self.hosts + to]
    }
}
