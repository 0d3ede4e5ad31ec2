// SPDX-License-Identifier: GPL-2.0

//! Asynchronous events of a queue pair.

/// What the driver has to pass on or act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The first packet came before the queue pair was ready to send.
    CommunicationEstablished,
    /// All started send requests are complete (SQD).
    SendQueueDrained,
    /// A peer's request was invalid; the queue pair failed.
    RequestError,
    /// A peer's request went beyond its rights; the queue pair failed.
    AccessError,
    /// The queue pair went to the error state by itself: receive requests are to be flushed.
    Failed,
    /// It takes no more from its shared receive queue.
    LastWqeReached,
}

impl Event {
    const ALL: [Self; 6] = [
        Self::CommunicationEstablished,
        Self::SendQueueDrained,
        Self::RequestError,
        Self::AccessError,
        Self::Failed,
        Self::LastWqeReached,
    ];

    const fn bit(self) -> u8 {
        match self {
            Self::CommunicationEstablished => 1,
            Self::SendQueueDrained => 2,
            Self::RequestError => 4,
            Self::AccessError => 8,
            Self::Failed => 16,
            Self::LastWqeReached => 32,
        }
    }
}

/// Events that wait to be taken; each at most once.
#[derive(Clone, Copy, Default)]
pub(super) struct Events {
    waiting: u8,
    seen: u8,
}

impl Events {
    pub(super) fn add(&mut self, event: Event) {
        self.waiting |= event.bit();
    }

    /// Adds it unless it was there before, taken or not.
    #[inline]
    pub(super) fn add_once(&mut self, event: Event) {
        if self.seen & event.bit() == 0 {
            self.seen |= event.bit();
            self.add(event);
        }
    }

    pub(super) fn forget(&mut self, event: Event) {
        self.waiting &= !event.bit();
    }

    /// The next one, in the order of [`Event`].
    #[inline]
    pub(super) fn take(&mut self) -> Option<Event> {
        if self.waiting == 0 {
            return None;
        }
        let event = Event::ALL
            .into_iter()
            .find(|event| self.waiting & event.bit() != 0)?;
        self.forget(event);
        Some(event)
    }
}
