// SPDX-License-Identifier: GPL-2.0

//! The model: numbers of 128 bits, keys as plain integers, windows counted by looking for them.

pub(crate) const LOCAL_WRITE: u32 = 1;
pub(crate) const REMOTE_WRITE: u32 = 2;
pub(crate) const REMOTE_READ: u32 = 4;
pub(crate) const REMOTE_ATOMIC: u32 = 8;
pub(crate) const BIND: u32 = 0x10;
pub(crate) const ZERO_BASED: u32 = 0x20;
pub(crate) const FLUSH_GLOBAL: u32 = 0x100;
pub(crate) const FLUSH_PERSISTENT: u32 = 0x200;
pub(crate) const REMOTE: u32 = 0x30e;

pub(crate) const TOP: u128 = 1 << 64;

/// Objects in the world: regions of processes, one of all memory, fast registrations, windows.
pub(crate) const USER: [u32; 3] = [1, 2, 3];
pub(crate) const DMA: u32 = 4;
pub(crate) const FAST: [u32; 2] = [5, 6];
pub(crate) const TYPE_1: [u32; 2] = [7, 8];
pub(crate) const TYPE_2: [u32; 2] = [9, 10];
pub(crate) const OBJECTS: usize = 11;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Thing {
    Nothing,
    Region {
        kind: char,
        valid: bool,
        flags: u32,
        first: u128,
        bytes: u128,
    },
    Window {
        kind: u8,
        bound: Option<Bound>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    region: usize,
    first: u128,
    bytes: u128,
    flags: u32,
    qp: u64,
}

/// What is kept at an index: its variant, its domain and what it is.
pub(crate) type Row = (u32, u64, Thing);

pub(crate) struct Model(pub(crate) [Row; OBJECTS]);

/// A region's index and an offset.
pub(crate) type Answer = Option<(u32, u128)>;

impl Model {
    fn find(&self, key: u32, pd: u64) -> Option<(usize, Thing)> {
        let index = (key / 256) as usize;
        let &(variant, owner, thing) = self.0.get(index)?;
        (variant == key % 256 && owner == pd).then_some((index, thing))
    }

    pub(crate) fn windows(&self, region: usize) -> usize {
        let bound_to = |row: &&Row| match row.2 {
            Thing::Window { bound, .. } => bound.is_some_and(|bound| bound.region == region),
            _ => false,
        };
        self.0.iter().filter(bound_to).count()
    }

    pub(crate) fn first_of(&self, region: usize) -> u128 {
        match self.0[region].2 {
            Thing::Region { first, .. } => first,
            _ => panic!("no region"),
        }
    }

    /// Where an access begins, given its first byte and how many; all of the object if none.
    pub(crate) fn access(
        &self,
        who: Who,
        bytes: Option<(u128, u128)>,
        flags: u32,
        local: bool,
    ) -> Answer {
        let (index, thing) = self.find(who.key, who.pd)?;
        let (region, has, base, first, size) = match thing {
            Thing::Region {
                kind,
                valid: true,
                flags,
                first,
                bytes,
            } => {
                let size = if kind == 'd' { TOP } else { bytes };
                (index, flags, first, first, size)
            }
            Thing::Window {
                kind,
                bound: Some(bound),
            } if !local && (kind == 1 || bound.qp == who.qp) => {
                let base = if bound.flags & ZERO_BASED != 0 {
                    0
                } else {
                    bound.first
                };
                (bound.region, bound.flags, base, bound.first, bound.bytes)
            }
            _ => return None,
        };
        let (address, length) = bytes.unwrap_or((base, size));
        let inside = address >= base && address + length <= base + size;
        (has & flags == flags && inside).then(|| {
            (
                region as u32,
                address - base + first - self.first_of(region),
            )
        })
    }

    pub(crate) fn register(
        &mut self,
        pd: u64,
        key: u32,
        flags: u32,
        first: u128,
        bytes: u128,
    ) -> bool {
        let row = &mut self.0[(key / 256) as usize];
        let free = matches!(
            row.2,
            Thing::Region {
                kind: 'f',
                valid: false,
                ..
            }
        );
        let changes = flags & (REMOTE_WRITE | REMOTE_ATOMIC) != 0;
        let fine = free
            && row.1 == pd
            && (flags & LOCAL_WRITE != 0 || !changes)
            && flags & ZERO_BASED == 0
            && first + bytes <= TOP;
        if fine {
            row.0 = key % 256;
            row.2 = Thing::Region {
                kind: 'f',
                valid: true,
                flags,
                first,
                bytes,
            };
        }
        fine
    }

    pub(crate) fn bind(&mut self, who: Who, bind: Bind) -> Option<()> {
        let (index, thing) = self.find(who.key, who.pd)?;
        let Thing::Window { kind, bound } = thing else {
            return None;
        };
        let (first, bytes) = (u128::from(bind.address), u128::from(bind.length));
        if kind == 1 {
            let next = (who.key + 1) % 256;
            (bind.flags & ZERO_BASED == 0 && u32::from(bind.variant) == next).then_some(())?;
        } else {
            (bound.is_none() && bytes != 0).then_some(())?;
        }
        let mut new = None;
        if bytes != 0 {
            let (region, target) = self.find(bind.region, who.pd)?;
            let Thing::Region {
                valid: true,
                flags,
                first: start,
                bytes: size,
                ..
            } = target
            else {
                return None;
            };
            let changes = bind.flags & (REMOTE_WRITE | REMOTE_ATOMIC) != 0;
            let flushes = bind.flags & (FLUSH_GLOBAL | FLUSH_PERSISTENT);
            let fine = flags & BIND != 0
                && (flags & LOCAL_WRITE != 0 || !changes)
                && flags & flushes == flushes
                && first >= start
                && first + bytes <= start + size;
            fine.then_some(())?;
            new = Some(Bound {
                region,
                first,
                bytes,
                flags: bind.flags & (REMOTE | ZERO_BASED),
                qp: who.qp,
            });
        }
        self.0[index].0 = u32::from(bind.variant);
        self.0[index].2 = Thing::Window { kind, bound: new };
        Some(())
    }

    pub(crate) fn invalidate(&mut self, who: Who, remote: bool) -> Option<()> {
        let (index, thing) = self.find(who.key, who.pd)?;
        let windows = self.windows(index);
        match &mut self.0[index].2 {
            Thing::Region {
                kind: 'f',
                valid,
                flags,
                ..
            } if windows == 0 && (!remote || *flags & REMOTE != 0) => *valid = false,
            Thing::Window { kind: 2, bound } => {
                let other = matches!(thing, Thing::Window { bound: Some(bound), .. }
                    if bound.qp != who.qp);
                (!remote || !other).then_some(())?;
                *bound = None;
            }
            _ => return None,
        }
        Some(())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) key: u32,
    pub(crate) pd: u64,
    pub(crate) qp: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bind {
    pub(crate) variant: u8,
    pub(crate) region: u32,
    pub(crate) address: u64,
    pub(crate) length: u64,
    pub(crate) flags: u32,
}
