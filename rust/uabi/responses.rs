// SPDX-License-Identifier: GPL-2.0

//! What calls that make objects bring and take beside their own attributes.

use crate::{
    abi::{
        create_ah,
        create_cq,
        create_qp,
        create_srq,
        mminfo,
        modify_srq,
        resize_cq, //
    },
    bytes::{
        get_u64,
        put, //
    },
};

/// What the user maps: a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MmapInfo {
    /// The offset to call mmap with.
    pub offset: u64,
    /// The size to call it with.
    pub size: u32,
}

impl MmapInfo {
    /// Bytes of one.
    pub const BYTES: usize = mminfo::BYTES;

    /// As the user reads it.
    #[inline]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut raw = [0; Self::BYTES];
        put::<{ mminfo::OFFSET }, 8, { mminfo::BYTES }>(&mut raw, self.offset.to_ne_bytes());
        put::<{ mminfo::SIZE }, 4, { mminfo::BYTES }>(&mut raw, self.size.to_ne_bytes());
        raw
    }
}

/// Of create CQ, and of resize CQ: the ring, the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletionQueue {
    /// Its ring.
    pub ring: MmapInfo,
}

impl CompletionQueue {
    /// Bytes of it.
    pub const BYTES: usize = create_cq::BYTES;

    /// As the user reads it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut raw = [0; Self::BYTES];
        put::<{ create_cq::RING }, { mminfo::BYTES }, { create_cq::BYTES }>(
            &mut raw,
            self.ring.to_bytes(),
        );
        raw
    }
}

/// Both answers are alike.
const _: () = assert!(resize_cq::BYTES == create_cq::BYTES && resize_cq::RING == create_cq::RING);

/// Of create QP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuePair {
    /// The receive queue's ring; zeros where it takes from a shared one.
    pub receive: MmapInfo,
    /// The send queue's ring.
    pub send: MmapInfo,
}

impl QueuePair {
    /// Bytes of it.
    pub const BYTES: usize = create_qp::BYTES;

    /// As the user reads it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut raw = [0; Self::BYTES];
        put::<{ create_qp::RECEIVE }, { mminfo::BYTES }, { create_qp::BYTES }>(
            &mut raw,
            self.receive.to_bytes(),
        );
        put::<{ create_qp::SEND }, { mminfo::BYTES }, { create_qp::BYTES }>(
            &mut raw,
            self.send.to_bytes(),
        );
        raw
    }
}

/// Of create SRQ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedReceiveQueue {
    /// Its ring.
    pub ring: MmapInfo,
    /// Its number.
    pub number: u32,
}

impl SharedReceiveQueue {
    /// Bytes of it.
    pub const BYTES: usize = create_srq::BYTES;

    /// As the user reads it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut raw = [0; Self::BYTES];
        put::<{ create_srq::RING }, { mminfo::BYTES }, { create_srq::BYTES }>(
            &mut raw,
            self.ring.to_bytes(),
        );
        put::<{ create_srq::NUMBER }, 4, { create_srq::BYTES }>(
            &mut raw,
            self.number.to_ne_bytes(),
        );
        raw
    }
}

/// Of create AH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressHandle {
    /// Its number, which comes back in send requests; a 0 there means that there is none.
    pub number: u32,
}

impl AddressHandle {
    /// Bytes of it.
    pub const BYTES: usize = create_ah::BYTES;

    /// As the user reads it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut raw = [0; Self::BYTES];
        put::<{ create_ah::NUMBER }, 4, { create_ah::BYTES }>(&mut raw, self.number.to_ne_bytes());
        raw
    }
}

/// What modify SRQ comes with when it changes the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModifySrq {
    /// Address in the user's memory to which the driver writes a [`MmapInfo`]: the new ring's.
    pub address: u64,
}

impl ModifySrq {
    /// Bytes of it.
    pub const BYTES: usize = modify_srq::BYTES;

    /// Reads it.
    pub fn parse(raw: &[u8; Self::BYTES]) -> Self {
        Self {
            address: get_u64::<{ modify_srq::ADDRESS }, { modify_srq::BYTES }>(raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: MmapInfo = MmapInfo {
        offset: 0x0102_0304_0506_0708,
        size: 0x1112_1314,
    };

    fn info(offset: u64, size: u32) -> Vec<u8> {
        [&offset.to_ne_bytes()[..], &size.to_ne_bytes(), &[0; 4]].concat()
    }

    #[test]
    fn answers_as_the_user_reads_them() {
        let ring = info(RING.offset, RING.size);
        assert_eq!(RING.to_bytes(), ring[..]);
        assert_eq!(CompletionQueue { ring: RING }.to_bytes(), ring[..]);

        let send = MmapInfo { offset: 9, size: 8 };
        let raw = QueuePair {
            receive: RING,
            send,
        }
        .to_bytes();
        assert_eq!(raw, [ring.clone(), info(9, 8)].concat()[..]);

        let number = 0x2122_2324;
        let raw = SharedReceiveQueue { ring: RING, number }.to_bytes();
        let numbered = [&number.to_ne_bytes()[..], &[0; 4]].concat();
        assert_eq!(raw, [ring, numbered.clone()].concat()[..]);
        assert_eq!(AddressHandle { number }.to_bytes(), numbered[..]);
    }

    #[test]
    fn modify_srq_brings_an_address() {
        let address = 0x7fff_1234_5678_9abc;
        assert_eq!(
            ModifySrq::parse(&u64::to_ne_bytes(address)),
            ModifySrq { address }
        );
    }
}
