// SPDX-License-Identifier: GPL-2.0

//! The ways in which things go wrong, and how each domain's errors become another's.
//!
//! Three domains: completion statuses ([`WcStatus`]) for the user, syndromes ([`NakCode`]) for the
//! peer, and what the driver's memory says ([`Fault`]). The tables are here and nowhere else.

use crate::wire::aeth::NakCode;

/// How a work request ended (work completion status).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WcStatus {
    /// Well.
    Success,
    /// The message is longer than what it may be here, or than the receive request's buffers.
    LocalLength,
    /// The request cannot be done by a queue pair of this kind.
    LocalQpOperation,
    /// A local key, range or right does not allow it.
    LocalProtection,
    /// Not done, since the queue pair is in an error state.
    Flushed,
    /// Binding a memory window failed.
    MemoryWindowBind,
    /// The responder's answer made no sense.
    BadResponse,
    /// A right to local memory was missing while a remote request was served.
    LocalAccess,
    /// The responder found the request invalid.
    RemoteInvalidRequest,
    /// The responder's key, range or rights do not allow it.
    RemoteAccess,
    /// The responder could not do it.
    RemoteOperation,
    /// No answer after all retries.
    RetryExceeded,
    /// The receiver had no buffer after all retries.
    RnrRetryExceeded,
}

/// What memory or a queue of the driver answers instead of doing what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The key, the range or a right does not allow it.
    Access,
    /// It is allowed but failed.
    Operational,
    /// Not now; as if the packet had been lost. The peer tries again.
    Busy,
}

impl Fault {
    /// What the peer is told when its request met the fault; nothing if it shall just try again.
    #[inline]
    pub const fn nak(self) -> Option<NakCode> {
        match self {
            Self::Access => Some(NakCode::RemoteAccess),
            Self::Operational => Some(NakCode::RemoteOperational),
            Self::Busy => None,
        }
    }

    /// How a work request ends whose own memory had the fault; not at all if it can go on later.
    #[inline]
    pub const fn local(self) -> Option<WcStatus> {
        match self {
            Self::Access => Some(WcStatus::LocalProtection),
            Self::Operational => Some(WcStatus::LocalQpOperation),
            Self::Busy => None,
        }
    }
}

/// How a send request ends that its responder refused; none for a code that is no end.
#[inline]
pub const fn status_of_nak(code: NakCode) -> Option<WcStatus> {
    match code {
        NakCode::SequenceError => None,
        NakCode::InvalidRequest | NakCode::InvalidRdRequest => Some(WcStatus::RemoteInvalidRequest),
        NakCode::RemoteAccess => Some(WcStatus::RemoteAccess),
        NakCode::RemoteOperational => Some(WcStatus::RemoteOperation),
    }
}

/// How a receive request ends whose message was refused with this code.
#[inline]
pub const fn receive_status_of_nak(code: NakCode) -> WcStatus {
    match code {
        NakCode::SequenceError | NakCode::InvalidRequest | NakCode::InvalidRdRequest => {
            WcStatus::RemoteInvalidRequest
        }
        NakCode::RemoteAccess => WcStatus::RemoteAccess,
        NakCode::RemoteOperational => WcStatus::LocalQpOperation,
    }
}
