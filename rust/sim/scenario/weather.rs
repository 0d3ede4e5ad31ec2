// SPDX-License-Identifier: GPL-2.0

//! Links of which the seed decides everything.

use crate::{
    events::{
        Nanos,
        MICROSECOND,
        MILLISECOND,
        SECOND, //
    },
    network::{
        Burst,
        LinkPlan,
        Pauses,
        Reorder, //
    },
    rng::{
        Chance,
        Rng, //
    },
};

pub(super) fn links(rng: &mut Rng, hosts: usize) -> Vec<LinkPlan> {
    let bandwidth = rng.pick(&[100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000]);
    let delay = rng.spread(500..=2 * MILLISECOND);
    let heals_at = rng.spread(5 * MILLISECOND..=2 * SECOND);
    let spoilt = rng.percent(80);
    let one_way = rng.percent(25);
    (0..hosts * hosts)
        .map(|index| {
            let mut link = LinkPlan::clean(bandwidth, delay);
            let forward = index / hosts < index % hosts;
            if spoilt && (forward || !one_way) {
                spoil(rng, &mut link, heals_at);
            }
            link
        })
        .collect()
}

/// Faults of a link.
fn spoil(rng: &mut Rng, link: &mut LinkPlan, heals_at: Nanos) {
    link.heals_at = heals_at;
    let grade = |rng: &mut Rng| {
        let parts = rng.pick(&[1_000, 5_000, 20_000, 50_000, 100_000, 200_000]);
        Chance::per_million(parts)
    };
    if rng.percent(50) {
        link.loss = grade(rng);
    }
    if rng.percent(20) {
        link.burst = Some(Burst {
            enter: Chance::per_million(rng.pick(&[1_000, 5_000, 20_000])),
            leave: Chance::percent(rng.pick(&[5, 20, 50])),
            loss: Chance::percent(rng.pick(&[50, 90, 100])),
        });
    }
    if rng.percent(40) {
        let most = rng.spread(MICROSECOND..=500 * MICROSECOND);
        link.reorder = Some(Reorder {
            chance: grade(rng),
            least: most / 10,
            most,
        });
    }
    if rng.percent(30) {
        link.duplicate = grade(rng);
    }
    if rng.percent(25) {
        link.corrupt = grade(rng);
    }
    if rng.percent(20) {
        link.queue = rng.spread(4..=500) as usize;
    }
    if rng.percent(15) {
        link.pauses = Some(Pauses {
            every: rng.spread(100 * MICROSECOND..=5 * MILLISECOND),
            length: rng.spread(10 * MICROSECOND..=MILLISECOND),
        });
    }
    if rng.percent(10) {
        let start = rng.spread(10 * MICROSECOND..=20 * MILLISECOND);
        let length = rng.spread(10 * MICROSECOND..=50 * MILLISECOND);
        link.blackouts.push(start..start + length);
    }
    if rng.percent(3) {
        link.path_bytes = rng.pick(&[300, 600, 1100, 2100]);
    }
    if rng.percent(15) {
        link.mark_above = Some(rng.spread(2..=64) as usize);
    }
}
