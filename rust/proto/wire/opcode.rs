// SPDX-License-Identifier: GPL-2.0

//! The opcodes: one table from which everything else about them follows (InfiniBand Architecture,
//! clause 9.2.1; FLUSH and ATOMIC WRITE: annex A19; congestion notification: annex A17).
//!
//! The upper three bits of the byte are the service, the lower five the operation. The table here
//! has one row an operation; [`lookup`] finds what it says of a byte in a table of all bytes, which
//! the compiler makes of the rows.

use super::{
    bth::Bth,
    packet::{
        Position,
        Service, //
    },
    roce, //
};

/// The base transport header's length in bytes.
const BTH_BYTES: u8 = 12;
const _: () = assert!(BTH_BYTES as usize == Bth::BYTES);

/// The invariant CRC's length in bytes.
const ICRC_BYTES: u32 = 4;
const _: () = assert!(ICRC_BYTES as usize == roce::ICRC_BYTES);

/// What a packet does, as the lower five bits of its opcode tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    /// First packet of a SEND.
    SendFirst = 0x00,
    /// Middle packet of a SEND.
    SendMiddle = 0x01,
    /// Last packet of a SEND.
    SendLast = 0x02,
    /// Last packet of a SEND, with immediate data.
    SendLastImmediate = 0x03,
    /// A SEND in one packet.
    SendOnly = 0x04,
    /// A SEND in one packet, with immediate data.
    SendOnlyImmediate = 0x05,
    /// First packet of a WRITE.
    WriteFirst = 0x06,
    /// Middle packet of a WRITE.
    WriteMiddle = 0x07,
    /// Last packet of a WRITE.
    WriteLast = 0x08,
    /// Last packet of a WRITE, with immediate data.
    WriteLastImmediate = 0x09,
    /// A WRITE in one packet.
    WriteOnly = 0x0a,
    /// A WRITE in one packet, with immediate data.
    WriteOnlyImmediate = 0x0b,
    /// READ request.
    ReadRequest = 0x0c,
    /// First packet of a READ's response.
    ReadResponseFirst = 0x0d,
    /// Middle packet of a READ's response.
    ReadResponseMiddle = 0x0e,
    /// Last packet of a READ's response.
    ReadResponseLast = 0x0f,
    /// A READ's response in one packet.
    ReadResponseOnly = 0x10,
    /// Acknowledgement.
    Acknowledge = 0x11,
    /// Answer to an atomic.
    AtomicAcknowledge = 0x12,
    /// Atomic compare and swap.
    CompareSwap = 0x13,
    /// Atomic fetch and add.
    FetchAdd = 0x14,
    /// Last packet of a SEND that invalidates a key.
    SendLastInvalidate = 0x16,
    /// A SEND in one packet that invalidates a key.
    SendOnlyInvalidate = 0x17,
    /// FLUSH.
    Flush = 0x1c,
    /// ATOMIC WRITE.
    AtomicWrite = 0x1d,
    /// Congestion notification; its five bits are 0x01, the sixth tells it from the others here.
    Cnp = 0x21,
}

/// What a message is about: operations that differ by position and tail only are one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// SEND.
    Send,
    /// WRITE.
    Write,
    /// READ request.
    Read,
    /// Compare and swap, fetch and add.
    Atomic,
    /// FLUSH.
    Flush,
    /// ATOMIC WRITE.
    AtomicWrite,
    /// Answer to READ, FLUSH and ATOMIC WRITE.
    ReadResponse,
    /// Acknowledgement.
    Acknowledge,
    /// Answer to an atomic.
    AtomicAcknowledge,
    /// Congestion notification: neither request nor response.
    Cnp,
}

impl Class {
    /// Whether a requester sends it to a responder.
    #[inline]
    pub const fn is_request(self) -> bool {
        matches!(
            self,
            Self::Send | Self::Write | Self::Read | Self::Atomic | Self::Flush | Self::AtomicWrite
        )
    }

    /// Whether a responder sends it to a requester.
    #[inline]
    pub const fn is_response(self) -> bool {
        matches!(
            self,
            Self::ReadResponse | Self::Acknowledge | Self::AtomicAcknowledge
        )
    }
}

/// A set of headers that follow the base transport header, in the order of the constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Headers(u16);

impl Headers {
    /// None.
    pub const NONE: Self = Self(0);
    /// Shared receive queue (XRCETH), 4 bytes.
    pub const XRCETH: Self = Self(1 << 0);
    /// Datagram (DETH), 8 bytes.
    pub const DETH: Self = Self(1 << 1);
    /// FLUSH (FETH), 4 bytes.
    pub const FETH: Self = Self(1 << 2);
    /// Remote memory (RETH), 16 bytes.
    pub const RETH: Self = Self(1 << 3);
    /// Operands of an atomic (AtomicETH), 28 bytes.
    pub const ATOMIC_ETH: Self = Self(1 << 4);
    /// Acknowledgement (AETH), 4 bytes.
    pub const AETH: Self = Self(1 << 5);
    /// An atomic's result (AtomicAckETH), 8 bytes.
    pub const ATOMIC_ACK_ETH: Self = Self(1 << 6);
    /// Immediate data (ImmDt), 4 bytes.
    pub const IMMEDIATE: Self = Self(1 << 7);
    /// Key to invalidate (IETH), 4 bytes.
    pub const IETH: Self = Self(1 << 8);
    /// The 16 reserved bytes of a congestion notification.
    pub const CNP: Self = Self(1 << 9);

    /// Each header with its length in bytes.
    const LENGTHS: [(Self, u8); 10] = [
        (Self::XRCETH, 4),
        (Self::DETH, 8),
        (Self::FETH, 4),
        (Self::RETH, 16),
        (Self::ATOMIC_ETH, 28),
        (Self::AETH, 4),
        (Self::ATOMIC_ACK_ETH, 8),
        (Self::IMMEDIATE, 4),
        (Self::IETH, 4),
        (Self::CNP, 16),
    ];

    /// These and `others`.
    #[inline]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Those of these that are in `others`, too.
    #[inline]
    pub const fn among(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Whether all of `others` are among these.
    #[inline]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Their length in bytes.
    const fn bytes(self) -> u8 {
        let mut bytes = 0u8;
        let mut left: &[(Self, u8)] = &Self::LENGTHS;
        while let Some((&(header, length), rest)) = left.split_first() {
            if self.has(header) {
                bytes = bytes.saturating_add(length);
            }
            left = rest;
        }
        bytes
    }
}

/// What the table says of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// Transport service.
    pub service: Service,
    /// What the packet does.
    pub operation: Operation,
    /// What its message is about.
    pub class: Class,
    /// Where in the message it stands.
    pub position: Position,
    /// Whether data belongs into it.
    pub carries_data: bool,
    /// Headers after the base transport header.
    pub headers: Headers,
    header_bytes: u8,
}

impl Opcode {
    /// Bytes of the base transport header and those that follow it.
    #[inline]
    pub const fn header_bytes(&self) -> usize {
        self.header_bytes as usize
    }

    /// Bytes of a UDP payload that are neither data nor pad: the headers and the ICRC.
    #[inline]
    pub const fn overhead_bytes(&self) -> u32 {
        (self.header_bytes as u32).saturating_add(ICRC_BYTES)
    }
}

/// The services that know an operation.
#[derive(Clone, Copy)]
enum Services {
    Reliable,
    RcOnly,
    Connected,
    All,
    Congestion,
}

impl Services {
    /// Whether `service` is one of them.
    const fn has(self, service: Service) -> bool {
        match service {
            Service::Rc => !matches!(self, Self::Congestion),
            Service::Xrc => matches!(self, Self::Reliable | Self::Connected | Self::All),
            Service::Uc => matches!(self, Self::Connected | Self::All),
            Service::Ud => matches!(self, Self::All),
            Service::Cnp => matches!(self, Self::Congestion),
        }
    }
}

/// An operation; the headers are those of RC, to which UD and XRC add theirs.
struct Row(Operation, Class, Position, Headers, Data, Services);

/// Whether data belongs into a packet.
#[derive(Clone, Copy)]
enum Data {
    Yes,
    No,
}

/// The table.
#[rustfmt::skip]
const ROWS: [Row; 26] = {
    use self::{
        Data::*,
        Operation::*,
        Services::*, //
    };
    use Class as C;
    use Headers as H;
    use Position as P;

    let reth_immediate = H::RETH.with(H::IMMEDIATE);
    let feth_reth = H::FETH.with(H::RETH);
    let aeth_result = H::AETH.with(H::ATOMIC_ACK_ETH);
    [
        Row(SendFirst,          C::Send,              P::First,  H::NONE,        Yes, Connected),
        Row(SendMiddle,         C::Send,              P::Middle, H::NONE,        Yes, Connected),
        Row(SendLast,           C::Send,              P::Last,   H::NONE,        Yes, Connected),
        Row(SendLastImmediate,  C::Send,              P::Last,   H::IMMEDIATE,   Yes, Connected),
        Row(SendOnly,           C::Send,              P::Only,   H::NONE,        Yes, All),
        Row(SendOnlyImmediate,  C::Send,              P::Only,   H::IMMEDIATE,   Yes, All),
        Row(WriteFirst,         C::Write,             P::First,  H::RETH,        Yes, Connected),
        Row(WriteMiddle,        C::Write,             P::Middle, H::NONE,        Yes, Connected),
        Row(WriteLast,          C::Write,             P::Last,   H::NONE,        Yes, Connected),
        Row(WriteLastImmediate, C::Write,             P::Last,   H::IMMEDIATE,   Yes, Connected),
        Row(WriteOnly,          C::Write,             P::Only,   H::RETH,        Yes, Connected),
        Row(WriteOnlyImmediate, C::Write,             P::Only,   reth_immediate, Yes, Connected),
        Row(ReadRequest,        C::Read,              P::Only,   H::RETH,        No,  Reliable),
        Row(ReadResponseFirst,  C::ReadResponse,      P::First,  H::AETH,        Yes, Reliable),
        Row(ReadResponseMiddle, C::ReadResponse,      P::Middle, H::NONE,        Yes, Reliable),
        Row(ReadResponseLast,   C::ReadResponse,      P::Last,   H::AETH,        Yes, Reliable),
        Row(ReadResponseOnly,   C::ReadResponse,      P::Only,   H::AETH,        Yes, Reliable),
        Row(Acknowledge,        C::Acknowledge,       P::Only,   H::AETH,        No,  Reliable),
        Row(AtomicAcknowledge,  C::AtomicAcknowledge, P::Only,   aeth_result,    No,  Reliable),
        Row(CompareSwap,        C::Atomic,            P::Only,   H::ATOMIC_ETH,  No,  Reliable),
        Row(FetchAdd,           C::Atomic,            P::Only,   H::ATOMIC_ETH,  No,  Reliable),
        Row(SendLastInvalidate, C::Send,              P::Last,   H::IETH,        Yes, Reliable),
        Row(SendOnlyInvalidate, C::Send,              P::Only,   H::IETH,        Yes, Reliable),
        Row(Flush,              C::Flush,             P::Only,   feth_reth,      No,  RcOnly),
        Row(AtomicWrite,        C::AtomicWrite,       P::Only,   H::RETH,        Yes, RcOnly),
        Row(Cnp,                C::Cnp,               P::Only,   H::CNP,         No,  Congestion),
    ]
};

impl Service {
    /// Every service.
    pub const ALL: [Self; 5] = [Self::Rc, Self::Uc, Self::Ud, Self::Xrc, Self::Cnp];

    /// Its bits in an opcode.
    #[inline]
    const fn opcode_bits(self) -> u8 {
        match self {
            Self::Rc => 0x00,
            Self::Uc => 0x20,
            Self::Ud => 0x60,
            Self::Cnp => 0x80,
            Self::Xrc => 0xa0,
        }
    }
}

impl Row {
    /// What the table says of this operation of `service`; nothing if that does not know it.
    const fn of(&self, service: Service) -> Option<Opcode> {
        let &Self(operation, class, position, own_headers, data, services) = self;
        if !services.has(service) {
            return None;
        }
        let headers = match service {
            Service::Ud => own_headers.with(Headers::DETH),
            Service::Xrc if class.is_request() => own_headers.with(Headers::XRCETH),
            _ => own_headers,
        };
        Some(Opcode {
            service,
            operation,
            class,
            position,
            carries_data: matches!(data, Data::Yes),
            headers,
            header_bytes: BTH_BYTES.saturating_add(headers.bytes()),
        })
    }
}

/// The byte of an operation of a service; one that [`lookup`] does not know if the service does not
/// have the operation.
#[inline]
pub const fn byte(service: Service, operation: Operation) -> u8 {
    service.opcode_bits() | operation as u8 & 0x1f
}

/// What the rows say of a byte.
const fn search(wanted: u8) -> Option<Opcode> {
    let mut services: &[Service] = &Service::ALL;
    while let Some((&service, other_services)) = services.split_first() {
        let mut rows: &[Row] = &ROWS;
        while let Some((row, other_rows)) = rows.split_first() {
            let opcode = row.of(service);
            if byte(service, row.0) == wanted && opcode.is_some() {
                return opcode;
            }
            rows = other_rows;
        }
        services = other_services;
    }
    None
}

/// What the rows say of every byte.
static OPCODES: [Option<Opcode>; 256] = {
    let mut opcodes = [None; 256];
    let mut left: &mut [Option<Opcode>] = &mut opcodes;
    let mut wanted = 0u8;
    while let Some((entry, rest)) = left.split_first_mut() {
        *entry = search(wanted);
        wanted = wanted.wrapping_add(1);
        left = rest;
    }
    opcodes
};

/// What the table says of an opcode; nothing if there is no such.
#[inline]
pub fn lookup(byte: u8) -> Option<&'static Opcode> {
    OPCODES.get(usize::from(byte)).and_then(Option::as_ref)
}
