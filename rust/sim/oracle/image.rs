// SPDX-License-Identifier: GPL-2.0

//! What memory must hold, and what a READ of it may bring.
//!
//! There are two images of a region that only one flow changes. The oracle's own moves with what
//! the responder does. The flow's runs ahead: it holds what will be there once all that was posted
//! is done. From that one a READ's answer is known when it is posted; what is posted behind it
//! without a fence may show in its answer too, since a responder may fetch a READ's data late, and
//! does so again when an answer was lost.

use super::flow::Flow;
use crate::{
    memory::{
        after,
        word,
        Region, //
    },
    pattern::Pattern,
    work::Posted, //
};
use oxe_proto::transport::{
    ports::Atomic,
    wr::SendOp, //
};

/// What a region must hold.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) key: u32,
    base: u64,
    bytes: Vec<u8>,
    /// It was or will be invalidated by a fault.
    pub(super) lost: bool,
}

impl Image {
    pub(super) fn of(key: u32, region: &Region) -> Self {
        Self {
            key,
            base: region.base,
            bytes: region.bytes.clone(),
            lost: false,
        }
    }

    /// The bytes at an address, if all of them are in the region.
    pub(super) fn at(&mut self, address: u64, length: usize) -> Option<&mut [u8]> {
        let offset = usize::try_from(address.checked_sub(self.base)?).ok()?;
        self.bytes.get_mut(offset..offset.checked_add(length)?)
    }

    /// The first byte that `bytes` have otherwise.
    pub(super) fn mismatch(&self, bytes: &[u8]) -> Option<usize> {
        if self.bytes == bytes {
            return None;
        }
        let differ = self.bytes.iter().zip(bytes).position(|(a, b)| a != b);
        Some(differ.unwrap_or(self.bytes.len().min(bytes.len())))
    }
}

/// What a READ may bring.
#[derive(Clone, Debug)]
pub(super) enum ReadOutlook {
    /// Memory that nobody changes.
    Pattern { pattern: Pattern, offset: u64 },
    /// Memory that this flow changes: what it holds at the READ's turn, or pieces of what comes
    /// later.
    Image {
        base: Vec<u8>,
        later: Vec<(usize, Vec<u8>)>,
    },
}

impl ReadOutlook {
    /// The first byte of an answer that cannot be.
    pub(super) fn mismatch(&self, sink: &[u8]) -> Option<usize> {
        match self {
            Self::Pattern { pattern, offset } => pattern.mismatch(*offset, sink),
            Self::Image { base, later } => {
                if base == sink {
                    return None;
                }
                let may_be = |at: usize, byte: u8| {
                    let value = |(start, piece): &(usize, Vec<u8>)| {
                        at.checked_sub(*start)
                            .and_then(|inside| piece.get(inside).copied())
                    };
                    later.iter().any(|piece| value(piece) == Some(byte))
                };
                sink.iter()
                    .enumerate()
                    .position(|(at, &byte)| base.get(at) != Some(&byte) && !may_be(at, byte))
            }
        }
    }
}

/// What a request will change at its target: an address and bytes.
fn change(posted: &Posted, image: &mut Image) -> Option<(u64, Vec<u8>)> {
    let source = |length: u32| {
        let (pattern, offset) = posted.source.expected();
        pattern.bytes(offset, length as usize)
    };
    match posted.wr.op {
        SendOp::Write { address, rkey, .. } if rkey.0 == image.key => {
            Some((address, source(posted.wr.length)))
        }
        SendOp::AtomicWrite { address, rkey } if rkey.0 == image.key => Some((address, source(8))),
        SendOp::CompareSwap(atomic) if atomic.rkey.0 == image.key => {
            let before = word(image.at(atomic.address, 8)?);
            let operation = Atomic::CompareSwap {
                compare: atomic.compare,
                swap: atomic.swap_add,
            };
            Some((
                atomic.address,
                after(before, operation).to_ne_bytes().into(),
            ))
        }
        SendOp::FetchAdd(atomic) if atomic.rkey.0 == image.key => {
            let before = word(image.at(atomic.address, 8)?);
            let operation = Atomic::FetchAdd {
                add: atomic.swap_add,
            };
            Some((
                atomic.address,
                after(before, operation).to_ne_bytes().into(),
            ))
        }
        _ => None,
    }
}

impl Flow {
    /// The newest message was posted: what will it change, and what will it find?
    pub(super) fn foresee(&mut self) {
        let Some(index) = self.messages.len().checked_sub(1) else {
            return;
        };
        let posted = self.messages[index].posted;
        if posted.wr.fence {
            self.open_reads.clear();
        }
        let Some(mut image) = self.image.take() else {
            return;
        };
        match posted.wr.op {
            SendOp::Read { address, rkey } if rkey.0 == image.key => {
                if let Some(bytes) = image.at(address, posted.wr.length as usize) {
                    self.messages[index].read = Some(ReadOutlook::Image {
                        base: bytes.to_vec(),
                        later: Vec::new(),
                    });
                    self.open_reads.push(index);
                }
            }
            SendOp::CompareSwap(atomic) | SendOp::FetchAdd(atomic)
                if atomic.rkey.0 == image.key =>
            {
                self.messages[index].must_find =
                    image.at(atomic.address, 8).map(|bytes| word(bytes));
            }
            _ => (),
        }
        if let Some((address, bytes)) = change(&posted, &mut image) {
            self.change_reads(address, &bytes);
            if let Some(target) = image.at(address, bytes.len()) {
                target.copy_from_slice(&bytes);
            }
        }
        self.image = Some(image);
    }

    /// READs that are not complete may see a change that comes behind them.
    fn change_reads(&mut self, address: u64, bytes: &[u8]) {
        let completed = self.completed;
        self.open_reads.retain(|&index| index >= completed);
        for &index in &self.open_reads {
            let message = &mut self.messages[index];
            let SendOp::Read { address: start, .. } = message.posted.wr.op else {
                continue;
            };
            let end = start + u64::from(message.posted.wr.length);
            let from = address.max(start);
            let to = (address + bytes.len() as u64).min(end);
            if from >= to {
                continue;
            }
            if let Some(ReadOutlook::Image { later, .. }) = &mut message.read {
                let piece = &bytes[(from - address) as usize..(to - address) as usize];
                later.push(((from - start) as usize, piece.to_vec()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Rights;

    #[test]
    fn an_image_knows_its_borders_and_its_bytes() {
        let region = Region::new(100, Pattern(1), 16, Rights::ALL);
        let mut image = Image::of(7, &region);
        assert!(image.at(100, 16).is_some());
        assert!(image.at(99, 1).is_none() && image.at(100, 17).is_none());
        assert_eq!(image.mismatch(&region.bytes), None);
        image.at(105, 1).unwrap()[0] ^= 1;
        assert_eq!(image.mismatch(&region.bytes), Some(5));
    }

    #[test]
    fn a_read_may_bring_what_comes_later_but_nothing_else() {
        let outlook = ReadOutlook::Image {
            base: vec![1, 2, 3, 4],
            later: vec![(1, vec![7, 8]), (2, vec![9])],
        };
        assert_eq!(outlook.mismatch(&[1, 2, 3, 4]), None);
        assert_eq!(outlook.mismatch(&[1, 7, 9, 4]), None);
        assert_eq!(outlook.mismatch(&[1, 2, 8, 4]), None);
        assert_eq!(outlook.mismatch(&[7, 2, 3, 4]), Some(0));
        assert_eq!(outlook.mismatch(&[1, 9, 3, 4]), Some(1));
    }
}
