// SPDX-License-Identifier: GPL-2.0

//! What applications post: send requests and receive requests, with what the simulator keeps of
//! them.

use crate::pattern::Pattern;
use oxe_proto::transport::{
    error::WcStatus,
    wr::{
        SendOp,
        SendWr, //
    },
};
use std::collections::VecDeque;

/// Where a request's data comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Memory that holds a pattern, from an offset on.
    Memory {
        /// What it holds.
        pattern: Pattern,
        /// Where the data starts.
        offset: u64,
    },
    /// The buffer that an earlier READ of the same queue pair filled.
    Sink {
        /// Number of the READ.
        read: u64,
        /// What the READ is to bring.
        pattern: Pattern,
        /// Where that starts.
        offset: u64,
    },
}

impl Source {
    /// What the data must be, and from where on.
    pub fn expected(&self) -> (Pattern, u64) {
        match *self {
            Self::Memory { pattern, offset }
            | Self::Sink {
                pattern, offset, ..
            } => (pattern, offset),
        }
    }
}

/// How a request is to end, if the network and both ends live on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Well.
    Succeeds,
    /// The responder refuses it, and it ends so.
    Refused(WcStatus),
    /// It ends so without having been sent.
    Fails(WcStatus),
    /// It ends well but reaches nobody (a datagram with the wrong key).
    Unheard,
}

/// What [`SendOp::Local`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalWork {
    /// Makes a key of the own host valid.
    Register(u32),
    /// Makes a key of the own host invalid.
    Invalidate(u32),
}

/// A send request as its application posts it.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    /// Its number: they ascend on each queue pair.
    pub id: u64,
    /// What the queue pair is asked for.
    pub wr: SendWr,
    /// Its data.
    pub source: Source,
    /// How it is to end.
    pub outlook: Outlook,
    /// Its local work.
    pub local: Option<LocalWork>,
    /// The buffer of this READ is looked at by later requests.
    pub keep_sink: bool,
}

impl Posted {
    /// Bytes that the requester sends.
    pub fn bytes_out(&self) -> u32 {
        match self.wr.op {
            SendOp::Send(_)
            | SendOp::Write { .. }
            | SendOp::AtomicWrite { .. }
            | SendOp::Datagram { .. } => self.wr.length,
            _ => 0,
        }
    }

    /// Whether it is answered by a response of its own and takes a place of initiator depth.
    pub fn wants_response(&self) -> bool {
        matches!(
            self.wr.op,
            SendOp::Read { .. }
                | SendOp::CompareSwap(_)
                | SendOp::FetchAdd(_)
                | SendOp::Flush { .. }
                | SendOp::AtomicWrite { .. }
        )
    }

    /// Whether it uses up a receive request.
    pub fn takes_receive(&self) -> bool {
        match self.wr.op {
            SendOp::Send(_) | SendOp::Datagram { .. } => true,
            SendOp::Write { immediate, .. } => immediate.is_some(),
            _ => false,
        }
    }
}

/// A receive request.
#[derive(Clone, Debug)]
pub struct Receive {
    /// Its number: they ascend on each queue.
    pub id: u64,
    /// Bytes that its buffers hold.
    pub capacity: u32,
    /// What has been put into its buffers, from their start on.
    pub bytes: Vec<u8>,
}

/// A receive queue, of one queue pair or shared.
#[derive(Clone, Debug, Default)]
pub struct ReceiveQueue {
    waiting: VecDeque<Receive>,
    posted: u64,
}

impl ReceiveQueue {
    /// Posts a request.
    pub fn post(&mut self, capacity: u32) {
        self.waiting.push_back(Receive {
            id: self.posted,
            capacity,
            bytes: Vec::new(),
        });
        self.posted += 1;
    }

    /// Takes the oldest request.
    pub fn take(&mut self) -> Option<Receive> {
        self.waiting.pop_front()
    }

    /// Requests that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Removes all requests.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}
