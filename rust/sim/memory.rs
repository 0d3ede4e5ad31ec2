// SPDX-License-Identifier: GPL-2.0

//! A host's registered memory.

use crate::pattern::Pattern;
use oxe_proto::{
    transport::{
        error::Fault,
        ports::{
            Atomic,
            Right, //
        },
    },
    types::Rkey, //
};
use std::collections::BTreeMap;

/// What a peer may do with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// READ.
    pub read: bool,
    /// WRITE.
    pub write: bool,
    /// Atomics.
    pub atomic: bool,
}

impl Rights {
    /// Everything.
    pub const ALL: Self = Self {
        read: true,
        write: true,
        atomic: true,
    };

    /// READ.
    pub const READ: Self = Self {
        read: true,
        write: false,
        atomic: false,
    };

    /// WRITE.
    pub const WRITE: Self = Self {
        read: false,
        write: true,
        atomic: false,
    };
}

/// A memory region.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its first byte's virtual address.
    pub base: u64,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// What a peer may do with it.
    pub rights: Rights,
    /// The key works.
    pub valid: bool,
}

impl Region {
    /// A region that holds a pattern.
    pub fn new(base: u64, pattern: Pattern, length: usize, rights: Rights) -> Self {
        Self {
            base,
            bytes: pattern.bytes(0, length),
            rights,
            valid: true,
        }
    }

    /// Where in the region `length` bytes lie, if all of them do.
    fn offset(&self, address: u64, length: usize) -> Option<usize> {
        let offset = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let end = offset.checked_add(length)?;
        (end <= self.bytes.len()).then_some(offset)
    }
}

/// A host's regions by their key.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    regions: BTreeMap<u32, Region>,
}

impl Memory {
    /// Registers a region.
    pub fn insert(&mut self, key: u32, region: Region) {
        self.regions.insert(key, region);
    }

    /// All regions with their keys.
    pub fn regions(&self) -> impl Iterator<Item = (u32, &Region)> {
        self.regions.iter().map(|(&key, region)| (key, region))
    }

    /// The region of a key, valid or not.
    pub fn region(&self, key: u32) -> Option<&Region> {
        self.regions.get(&key)
    }

    /// Takes a key's validity away, or gives it back; false if there is no such region.
    pub fn set_valid(&mut self, key: u32, valid: bool) -> bool {
        match self.regions.get_mut(&key) {
            Some(region) => {
                region.valid = valid;
                true
            }
            None => false,
        }
    }

    fn find(
        &mut self,
        rkey: Rkey,
        address: u64,
        length: usize,
        allowed: impl Fn(&Rights) -> bool,
    ) -> Result<&mut [u8], Fault> {
        let region = self.regions.get_mut(&rkey.0).ok_or(Fault::Access)?;
        if !region.valid || !allowed(&region.rights) {
            return Err(Fault::Access);
        }
        let offset = region.offset(address, length).ok_or(Fault::Access)?;
        Ok(&mut region.bytes[offset..offset + length])
    }

    /// Whether all of the bytes may be used so.
    pub fn check(
        &mut self,
        rkey: Rkey,
        address: u64,
        length: u32,
        right: Right,
    ) -> Result<(), Fault> {
        let allowed = |rights: &Rights| match right {
            Right::Read => rights.read,
            Right::Write => rights.write,
        };
        self.find(rkey, address, length as usize, allowed)
            .map(|_| ())
    }

    /// The bytes that a peer reads.
    pub fn read(&mut self, rkey: Rkey, address: u64, length: u32) -> Result<&[u8], Fault> {
        self.find(rkey, address, length as usize, |rights| rights.read)
            .map(|bytes| &*bytes)
    }

    /// Writes a peer's bytes.
    pub fn write(&mut self, rkey: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        self.find(rkey, address, data.len(), |rights| rights.write)?
            .copy_from_slice(data);
        Ok(())
    }

    /// Does an atomic on eight bytes and returns what they were.
    pub fn atomic(&mut self, rkey: Rkey, address: u64, atomic: Atomic) -> Result<u64, Fault> {
        let bytes = self.find(rkey, address, 8, |rights| rights.atomic)?;
        let before = word(bytes);
        bytes.copy_from_slice(&after(before, atomic).to_ne_bytes());
        Ok(before)
    }
}

/// Eight bytes as a number in host order.
///
/// # Panics
///
/// If there are not eight.
pub fn word(bytes: &[u8]) -> u64 {
    let bytes: [u8; 8] = bytes.try_into().expect("eight bytes");
    u64::from_ne_bytes(bytes)
}

/// What an atomic leaves of a value.
pub fn after(before: u64, atomic: Atomic) -> u64 {
    match atomic {
        Atomic::CompareSwap { compare, swap } => {
            if before == compare {
                swap
            } else {
                before
            }
        }
        Atomic::FetchAdd { add } => before.wrapping_add(add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_rights_and_keys() {
        let mut memory = Memory::default();
        let key = Rkey(0x100);
        memory.insert(key.0, Region::new(0x1000, Pattern(1), 64, Rights::READ));
        assert_eq!(memory.check(key, 0x1000, 64, Right::Read), Ok(()));
        for (address, length) in [(0xfff, 1), (0x1000, 65), (0x1040, 1), (u64::MAX, 2)] {
            assert_eq!(
                memory.check(key, address, length, Right::Read),
                Err(Fault::Access)
            );
        }
        assert_eq!(
            memory.check(key, 0x1000, 1, Right::Write),
            Err(Fault::Access)
        );
        assert_eq!(memory.write(key, 0x1000, &[1]), Err(Fault::Access));
        assert_eq!(memory.read(Rkey(0x101), 0x1000, 1), Err(Fault::Access));
        assert!(memory.set_valid(key.0, false));
        assert_eq!(memory.read(key, 0x1000, 1), Err(Fault::Access));
    }

    #[test]
    fn atomics() {
        let mut memory = Memory::default();
        let key = Rkey(1);
        memory.insert(1, Region::new(0, Pattern(1), 16, Rights::ALL));
        memory.write(key, 8, &5_u64.to_ne_bytes()).unwrap();
        let swap = Atomic::CompareSwap {
            compare: 5,
            swap: u64::MAX,
        };
        assert_eq!(memory.atomic(key, 8, swap), Ok(5));
        assert_eq!(memory.atomic(key, 8, swap), Ok(u64::MAX));
        assert_eq!(
            memory.atomic(key, 8, Atomic::FetchAdd { add: 2 }),
            Ok(u64::MAX)
        );
        assert_eq!(memory.read(key, 8, 8), Ok(&1_u64.to_ne_bytes()[..]));
    }
}
