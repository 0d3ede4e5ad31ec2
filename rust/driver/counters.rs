// SPDX-License-Identifier: GPL-2.0

//! The counters of a port. Where `rdma_rxe` has a counter of that name, `docs/uabi.md` tells the
//! difference.

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};
use kernel_ext::rdma::{
    stats::{
        Descriptor,
        Descriptors, //
    },
    PortTraffic, //
};

/// A number that only grows.
pub(crate) struct Counter(Atomic<u64>);

impl Counter {
    const fn new() -> Self {
        Self(Atomic::new(0))
    }

    /// Adds one. Context: any.
    #[inline]
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    /// Adds `n`. Context: any.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident = $name:literal;)*) => {
        /// All counters of a port.
        pub(crate) struct Counters {
            $($(#[$doc])* pub(crate) $field: Counter,)*
        }

        impl Counters {
            /// Their names, in the order of [`Counters::values`].
            pub(crate) const NAMES: &'static Descriptors = &[$(Descriptor::new($name),)*];

            pub(crate) const fn new() -> Self {
                Self { $($field: Counter::new(),)* }
            }

            /// Their values now, each read by itself.
            pub(crate) fn values(&self) -> impl Iterator<Item = u64> {
                [$(self.$field.get(),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Datagrams that came in by the port.
    rcvd_pkts = c"rcvd_pkts";
    /// Bytes of their UDP payload.
    rcvd_bytes = c"rcvd_bytes";
    /// Of those, what is no RoCEv2 packet: dropped.
    rcvd_malformed = c"rcvd_malformed";
    /// Of those, packets for a queue pair that does not exist: dropped.
    rcvd_no_qp = c"rcvd_no_qp";
    /// Of those, packets with a wrong ICRC: dropped.
    rcvd_bad_icrc = c"rcvd_bad_icrc";
    /// Of those, packets to a connection that are not its peer's: dropped.
    rcvd_bad_address = c"rcvd_bad_address";
    /// Packets that came before their turn and were dropped: there was no room for them, or what
    /// was missing did not come.
    rcvd_early_dropped = c"rcvd_early_dropped";
    /// Packets sent.
    sent_pkts = c"sent_pkts";
    /// Bytes of their UDP payload.
    sent_bytes = c"sent_bytes";
    /// Packets that this host could not send: lost.
    send_dropped = c"send_dropped";
    /// Requests that were served before.
    duplicate_request = c"duplicate_request";
    /// Requests ahead of a missing one.
    out_of_seq_request = c"out_of_seq_request";
    /// Answers that the receiver was not ready, received and sent.
    rcvd_rnr_err = c"rcvd_rnr_err";
    /// See above.
    send_rnr_err = c"send_rnr_err";
    /// Answers that packets were missing.
    rcvd_seq_err = c"rcvd_seq_err";
    /// Requests that failed after all retries.
    retry_exceeded_err = c"retry_exceeded_err";
    /// Requests that failed after all receiver-not-ready retries.
    retry_rnr_exceeded_err = c"retry_rnr_exceeded_err";
    /// Times that an answer was missed for too long.
    completer_retry_err = c"completer_retry_err";
    /// Request packets sent again.
    retransmitted = c"retransmitted";
    /// Times that the port went down.
    link_downed = c"link_downed";
}

impl Counters {
    /// What management datagrams can ask for.
    pub(crate) fn traffic(&self) -> PortTraffic {
        PortTraffic {
            sent_bytes: self.sent_bytes.get(),
            received_bytes: self.rcvd_bytes.get(),
            sent_packets: self.sent_pkts.get(),
            received_packets: self.rcvd_pkts.get(),
            sent_dropped: self.send_dropped.get(),
            received_errors: self
                .rcvd_malformed
                .get()
                .saturating_add(self.rcvd_bad_icrc.get()),
            link_downed: self.link_downed.get(),
        }
    }
}
