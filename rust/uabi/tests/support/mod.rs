// SPDX-License-Identifier: GPL-2.0

//! Elements built by hand, as a provider writes them. The offsets are those of the documented
//! layout, typed once more: not the crate's.

/// An element under construction.
pub(crate) struct Element {
    pub(crate) raw: Vec<u8>,
}

impl Element {
    /// An element of a send queue, whose slot has so many bytes.
    pub(crate) fn send(opcode: u32, slot_bytes: usize) -> Self {
        let mut element = Self {
            raw: vec![0; slot_bytes],
        };
        element.u64(0, 0x5151_5151_0000_0001).u32(12, opcode);
        element
    }

    /// An element of a receive queue.
    pub(crate) fn receive(slot_bytes: usize) -> Self {
        let mut element = Self {
            raw: vec![0; slot_bytes],
        };
        element.u64(0, 0x5252_5252_0000_0002);
        element
    }

    pub(crate) fn bytes(&mut self, at: usize, bytes: &[u8]) -> &mut Self {
        self.raw[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub(crate) fn u32(&mut self, at: usize, value: u32) -> &mut Self {
        self.bytes(at, &value.to_ne_bytes())
    }

    pub(crate) fn u64(&mut self, at: usize, value: u64) -> &mut Self {
        self.bytes(at, &value.to_ne_bytes())
    }

    /// The flags of a send request.
    pub(crate) fn flags(&mut self, flags: u32) -> &mut Self {
        self.u32(16, flags)
    }

    /// `dma.length` of a send request.
    pub(crate) fn length(&mut self, length: u32) -> &mut Self {
        self.u32(184, length)
    }

    /// A list of (address, length, key), behind `head` bytes; the count is before it.
    fn list(&mut self, head: usize, sges: &[(u64, u32, u32)]) -> &mut Self {
        self.u32(head - 12, u32::try_from(sges.len()).unwrap());
        for (number, (addr, length, lkey)) in sges.iter().enumerate() {
            let at = head + 16 * number;
            self.u64(at, *addr).u32(at + 8, *length).u32(at + 12, *lkey);
        }
        self
    }

    /// The list of a send request.
    pub(crate) fn gather(&mut self, sges: &[(u64, u32, u32)]) -> &mut Self {
        self.list(208, sges)
    }

    /// The list of a receive request.
    pub(crate) fn scatter(&mut self, sges: &[(u64, u32, u32)]) -> &mut Self {
        self.list(40, sges)
    }
}
