// SPDX-License-Identifier: GPL-2.0

//! Rings that a process has mapped: what lies in them is its word, read once and by value.
//!
//! Each ring has an index that is ours and one that is the process's. Ours is kept here and only
//! ever written there; the other is read and masked.

use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::rdma::{
    Mapping,
    User,
    UserMemory, //
};
use oxe_uabi::{
    responses::MmapInfo,
    ring::{
        Cursor,
        Layout, //
    }, //
};

/// Memory of a ring, mapped or to be mapped by the process, and our index.
struct Shared {
    memory: Arc<UserMemory>,
    layout: Layout,
    cursor: Cursor,
    info: MmapInfo,
    /// What the process can still map; ends with the queue.
    mapping: Option<Mapping>,
}

impl Shared {
    fn new(user: &User<'_>, entries: u32, element_bytes: u32) -> Result<Self> {
        let layout = Layout::new(entries, element_bytes).ok_or(EINVAL)?;
        let memory = UserMemory::new(layout.total_bytes() as usize)?;
        memory.copy_to(0, &layout.head())?;
        let mapping = user.map(&memory)?;
        Ok(Self {
            info: MmapInfo {
                offset: mapping.offset(),
                size: mapping.size(),
            },
            mapping: Some(mapping),
            cursor: layout.cursor(),
            memory,
            layout,
        })
    }

    /// Where our index points.
    fn place(&self) -> usize {
        self.layout.offset_of(self.cursor.index())
    }
}

/// A ring that the process fills: a send or receive queue.
pub(crate) struct Inbox {
    shared: Shared,
    /// One element, copied out.
    element: KVVec<u8>,
}

impl Inbox {
    /// A ring of at least `entries` elements.
    pub(crate) fn new(user: &User<'_>, entries: u32, element_bytes: u32) -> Result<Self> {
        let shared = Shared::new(user, entries, element_bytes)?;
        let bytes = shared.layout.element_bytes() as usize;
        Ok(Self {
            element: KVVec::from_elem(0, bytes, GFP_KERNEL_ACCOUNT)?,
            shared,
        })
    }

    /// For the answer to the process.
    pub(crate) fn info(&self) -> MmapInfo {
        self.shared.info
    }

    /// Elements that it holds.
    pub(crate) fn capacity(&self) -> u32 {
        self.shared.layout.capacity()
    }

    /// Elements that the process has put in and that were not taken, as it says.
    pub(crate) fn waiting(&self) -> u32 {
        let shared = &self.shared;
        let producer = shared.memory.load_acquire_u32(Layout::PRODUCER);
        producer.map_or(0, |producer| shared.cursor.readable(producer))
    }

    /// Copies the next element out, if there is one. It stays in the ring until [`Inbox::take`].
    pub(crate) fn peek(&mut self) -> Option<&[u8]> {
        let shared = &self.shared;
        let producer = shared.memory.load_acquire_u32(Layout::PRODUCER)?;
        if shared.cursor.readable(producer) == 0 {
            return None;
        }
        shared
            .memory
            .copy_from(shared.place(), &mut self.element)
            .ok()?;
        Some(&self.element)
    }

    /// Takes the element that was peeked at: its place may be filled again.
    pub(crate) fn take(&mut self) {
        let shared = &mut self.shared;
        shared.cursor.advance(1);
        shared
            .memory
            .store_release_u32(Layout::CONSUMER, shared.cursor.index());
    }

    /// What the process can map: to be dropped in process context, while its user context exists.
    pub(crate) fn take_mapping(&mut self) -> Option<Mapping> {
        self.shared.mapping.take()
    }

    /// Drops what is in it.
    pub(crate) fn discard(&mut self) {
        let shared = &mut self.shared;
        if let Some(producer) = shared.memory.load_acquire_u32(Layout::PRODUCER) {
            shared.cursor.catch_up(producer);
            shared
                .memory
                .store_release_u32(Layout::CONSUMER, shared.cursor.index());
        }
    }
}

/// A ring that the process empties: a completion queue.
pub(crate) struct Outbox {
    shared: Shared,
}

impl Outbox {
    /// A ring of at least `entries` elements.
    pub(crate) fn new(user: &User<'_>, entries: u32, element_bytes: u32) -> Result<Self> {
        Ok(Self {
            shared: Shared::new(user, entries, element_bytes)?,
        })
    }

    /// For the answer to the process.
    pub(crate) fn info(&self) -> MmapInfo {
        self.shared.info
    }

    /// Elements that it holds.
    pub(crate) fn capacity(&self) -> u32 {
        self.shared.layout.capacity()
    }

    /// As [`Inbox::take_mapping`].
    pub(crate) fn take_mapping(&mut self) -> Option<Mapping> {
        self.shared.mapping.take()
    }

    /// Whether the process has left nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        let shared = &self.shared;
        let consumer = shared.memory.load_acquire_u32(Layout::CONSUMER);
        consumer.is_none_or(|consumer| shared.cursor.writable(consumer) == self.capacity())
    }

    /// Adds an element; false if there is no room.
    pub(crate) fn push(&mut self, element: &[u8]) -> bool {
        let shared = &mut self.shared;
        let consumer = shared.memory.load_acquire_u32(Layout::CONSUMER);
        let has_room = consumer.is_some_and(|consumer| shared.cursor.has_room(consumer));
        if !has_room || shared.memory.copy_to(shared.place(), element).is_err() {
            return false;
        }
        shared.cursor.advance(1);
        shared
            .memory
            .store_release_u32(Layout::PRODUCER, shared.cursor.index());
        true
    }
}
