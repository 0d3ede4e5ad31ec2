// SPDX-License-Identifier: GPL-2.0

//! When to stop waiting for an answer: timers, retry counters and the measured round trip.
//!
//! What the user sets is the time after which a loss may be detected, and after four times of which
//! it must be. A host can stop for longer than the one, so the engine takes most of the other
//! ([`detection_time`]); a retry is used up each time that runs out without progress or another
//! sign of life. Long before it a *probe* sends the oldest unacknowledged packet again, after a
//! time that follows the measured round trip and doubles with each probe. Probes use up no retry:
//! they make a lost tail or a lost retransmission cost a round trip instead of a timeout.

use super::attributes::Attributes;
use crate::types::{
    Instant,
    Psn,
    Span, //
};

/// The longest time between two probes.
const MAX_PROBE: Span = Span::from_micros(4_000_000);

/// How long an answer is waited for without a timeout, once the peer has refused a later request.
const LAST_CHANCE: Span = Span::from_micros(500_000);

/// What a probe waits for at most without any measurement: a quarter of the timeout, or this.
const FIRST_PROBE: Span = Span::from_micros(4000);

/// The timeout of a code, 4.096 µs * 2^n; none for 0 (IBTA 9.9.2.1.1).
pub(super) fn ack_timeout(code: u8) -> Option<Span> {
    if code == 0 {
        return None;
    }
    Some(Span::from_nanos(
        4096_u64.wrapping_shl(u32::from(code & 31)),
    ))
}

/// When a timeout counts: no sooner than the timeout of its code and no later than four of it.
/// There is some room for timers that are late.
pub(super) fn detection_time(code: u8) -> Option<Span> {
    let timeout = ack_timeout(code)?;
    let quarter = Span::from_nanos(timeout.as_nanos() >> 2);
    Some(quarter.times(15))
}

/// Signs of life without progress that keep a timeout from counting, in a row: a peer that answers
/// but never gets on is given up, too.
const SIGNS: u8 = 8;

/// Round trip time, smoothed, and its mean deviation, as TCP has them (RFC 6298).
#[derive(Clone, Copy, Default)]
struct RoundTrip {
    /// Eight times the mean, nanoseconds; 0 before the first sample.
    mean8: u64,
    /// Four times the deviation, nanoseconds.
    deviation4: u64,
    /// The shortest one, nanoseconds; 0 before the first sample.
    shortest: u64,
}

impl RoundTrip {
    fn sample(&mut self, span: Span) {
        let sample = span.as_nanos().max(1);
        if self.shortest == 0 || sample < self.shortest {
            self.shortest = sample;
        }
        if self.mean8 == 0 {
            self.mean8 = sample.saturating_mul(8);
            self.deviation4 = sample.saturating_mul(2);
            return;
        }
        let mean = self.mean8 >> 3;
        let deviation = self.deviation4 >> 2;
        self.deviation4 = self
            .deviation4
            .saturating_sub(deviation)
            .saturating_add(sample.abs_diff(mean));
        self.mean8 = self
            .mean8
            .saturating_sub(mean)
            .saturating_add(sample)
            .max(1);
    }

    fn patience(&self) -> Option<Span> {
        if self.mean8 == 0 {
            return None;
        }
        Some(Span::from_nanos(
            (self.mean8 >> 3).saturating_add(self.deviation4),
        ))
    }
}

/// Why the requester is to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    /// The receiver's pause is over.
    Rnr,
    /// Neither answer nor progress for the whole timeout.
    Ack,
    /// No answer for as long as one usually takes.
    Probe,
}

/// The requester's timers and counters.
#[derive(Clone, Copy, Default)]
pub(super) struct Retry {
    round_trip: RoundTrip,
    /// A packet that asked for an acknowledgement and when it went out, until it is acknowledged.
    timed: Option<(Psn, Instant)>,
    probes: u32,
    /// When the last probe went out.
    probed: Instant,
    retries: u8,
    rnr_retries: u8,
    /// Something came from the peer since the timer was started,
    heard: bool,
    /// and may count for so many times more.
    signs: u8,
    /// The next timeout is the last.
    last: bool,
    ack: Option<Instant>,
    probe: Option<Instant>,
    rnr: Option<Instant>,
}

impl Retry {
    /// The next moment to look at.
    pub(super) fn next(&self) -> Option<Instant> {
        let first = |a: Option<Instant>, b: Option<Instant>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        first(first(self.ack, self.probe), self.rnr)
    }

    /// What has run out; it counts as seen.
    pub(super) fn expired(&mut self, now: Instant) -> Option<Expired> {
        let over = |moment: Option<Instant>| moment.is_some_and(|moment| moment <= now);
        if over(self.rnr) {
            self.rnr = None;
            Some(Expired::Rnr)
        } else if over(self.ack) {
            self.ack = None;
            self.probe = None;
            Some(Expired::Ack)
        } else if over(self.probe) {
            self.probe = None;
            Some(Expired::Probe)
        } else {
            None
        }
    }

    #[inline]
    pub(super) fn waits_for_receiver(&self) -> bool {
        self.rnr.is_some()
    }

    /// The receiver asked for a pause.
    pub(super) fn pause(&mut self, now: Instant, delay: Span) {
        self.stop();
        self.rnr = Some(now.after(delay));
    }

    /// Nothing is unacknowledged, or it does not matter any more.
    pub(super) fn stop(&mut self) {
        self.ack = None;
        self.probe = None;
        self.rnr = None;
        self.timed = None;
    }

    /// All counters as the attributes have them.
    pub(super) fn reload(&mut self, attributes: &Attributes) {
        self.retries = attributes.retry_cnt;
        self.rnr_retries = attributes.rnr_retry;
        self.signs = SIGNS;
        if self.last {
            self.last_chance();
        }
    }

    /// The next timeout is the last, and there is one.
    pub(super) fn last_chance(&mut self) {
        self.last = true;
        self.retries = 0;
        self.signs = 0;
    }

    /// When a timeout counts, if ever.
    fn detection_time(&self, attributes: &Attributes) -> Option<Span> {
        detection_time(attributes.timeout).or(self.last.then_some(LAST_CHANCE))
    }

    /// The peer lives.
    #[inline]
    pub(super) fn hear(&mut self) {
        self.heard = true;
    }

    /// The peer does what it is asked to, though not in order.
    pub(super) fn gets_on(&mut self, now: Instant, attributes: &Attributes) {
        self.reload(attributes);
        if self.ack.is_some() {
            self.ack = self.detection_time(attributes).map(|span| now.after(span));
        }
    }

    /// Whether another try is allowed after a timeout; it is used up unless the peer was heard.
    pub(super) fn use_timeout(&mut self) -> bool {
        if self.heard && self.signs != 0 {
            self.heard = false;
            self.signs = self.signs.saturating_sub(1);
            return true;
        }
        self.use_retry()
    }

    /// An answer came before a probe was sent for it: patience was long enough.
    pub(super) fn was_patient(&mut self) {
        self.probes = 0;
    }

    /// Whether another try is allowed after a sequence error; it is used up.
    pub(super) fn use_retry(&mut self) -> bool {
        let left = self.retries > 0;
        self.retries = self.retries.saturating_sub(1);
        left
    }

    /// Whether another try is allowed after a receiver-not-ready answer; it is used up.
    pub(super) fn use_rnr_retry(&mut self, attributes: &Attributes) -> bool {
        if attributes.rnr_retry == 7 {
            return true;
        }
        let left = self.rnr_retries > 0;
        self.rnr_retries = self.rnr_retries.saturating_sub(1);
        left
    }

    /// A new packet that asks for an acknowledgement goes out.
    #[inline]
    pub(super) fn time(&mut self, psn: Psn, now: Instant) {
        if self.timed.is_none() {
            self.timed = Some((psn, now));
        }
    }

    /// What comes now may answer either of two packets: no measurement.
    pub(super) fn forget_timed(&mut self) {
        self.timed = None;
    }

    /// A packet goes out again that the peer has said it had not got: what answers it answers this
    /// one. What was timed before waits for it as well and would measure the wait.
    pub(super) fn time_again(&mut self, psn: Psn, now: Instant) {
        self.timed = Some((psn, now));
    }

    /// What comes now may answer either of two packets, if it is this one that was timed.
    pub(super) fn forget_timed_if(&mut self, again: Psn) {
        if self.timed.is_some_and(|(psn, _)| psn == again) {
            self.timed = None;
        }
    }

    /// Everything before `una` is acknowledged.
    pub(super) fn acknowledged(&mut self, una: Psn, now: Instant) {
        if let Some((psn, sent)) = self.timed {
            if una.is_after(psn) {
                self.timed = None;
                self.round_trip.sample(now.since(sent));
                self.probes = 0;
            }
        }
    }

    /// Counts a probe that goes out.
    pub(super) fn probed(&mut self, now: Instant) {
        self.probes = self.probes.saturating_add(1);
        self.probed = now;
    }

    /// Whether an answer that comes now can be one to the last probe, and not just a late one: no
    /// answer has ever come sooner.
    pub(super) fn may_answer_probe(&self, now: Instant) -> bool {
        let shortest = self.round_trip.shortest;
        shortest != 0 && now.since(self.probed).as_nanos() >= shortest
    }

    /// Starts what is not running, since a packet went out that needs an answer.
    #[inline]
    pub(super) fn arm(&mut self, now: Instant, attributes: &Attributes, min_probe: Span) {
        if self.ack.is_none() || self.probe.is_none() {
            self.arm_slowly(now, attributes, min_probe);
        }
    }

    #[inline(never)]
    fn arm_slowly(&mut self, now: Instant, attributes: &Attributes, min_probe: Span) {
        if self.ack.is_none() {
            self.heard = false;
            self.ack = self.detection_time(attributes).map(|span| now.after(span));
        }
        if self.probe.is_none() {
            self.probe = self
                .probe_span(attributes, min_probe)
                .map(|span| now.after(span));
        }
    }

    /// Starts both anew, since an answer came and more are due.
    pub(super) fn rearm(&mut self, now: Instant, attributes: &Attributes, min_probe: Span) {
        self.ack = None;
        self.probe = None;
        self.rnr = None;
        self.arm(now, attributes, min_probe);
    }

    /// None if the timeout comes first anyhow.
    fn probe_span(&self, attributes: &Attributes, min_probe: Span) -> Option<Span> {
        let timeout = detection_time(attributes.timeout);
        let unmeasured = ack_timeout(attributes.timeout).map_or(FIRST_PROBE, |span| {
            FIRST_PROBE.min(Span::from_nanos(span.as_nanos() >> 2))
        });
        let patience = self.round_trip.patience().unwrap_or(unmeasured);
        let span = patience
            .max(min_probe)
            .times(1_u64.wrapping_shl(self.probes.min(16)))
            .min(MAX_PROBE);
        timeout.is_none_or(|timeout| span < timeout).then_some(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_double() {
        assert_eq!(ack_timeout(0), None);
        // facts of the table "Examples": 1.05 ms, 67.1 ms, 4.29 s.
        for (code, nanos) in [
            (1, 8192),
            (8, 1_048_576),
            (14, 67_108_864),
            (20, 4_294_967_296),
        ] {
            assert_eq!(ack_timeout(code), Some(Span::from_nanos(nanos)));
        }
    }

    #[test]
    fn patience_follows_the_round_trip() {
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.patience(), None);
        for _ in 0..200 {
            round_trip.sample(Span::from_micros(100));
        }
        let steady = round_trip.patience().unwrap();
        assert!(steady >= Span::from_micros(99) && steady < Span::from_micros(110));
        for _ in 0..200 {
            round_trip.sample(Span::from_micros(1000));
        }
        let slow = round_trip.patience().unwrap();
        assert!(slow >= Span::from_micros(990) && slow < Span::from_micros(1200));
    }

    #[test]
    fn probes_double_and_end_at_the_timeout() {
        let attributes = Attributes {
            timeout: 14,
            ..Attributes::default()
        };
        let mut retry = Retry::default();
        retry.round_trip.sample(Span::from_micros(10));
        let mut last = Span::ZERO;
        while let Some(span) = retry.probe_span(&attributes, Span::from_micros(500)) {
            assert!(span > last);
            last = span;
            retry.probed(Instant::default());
        }
        assert!((7..=10).contains(&retry.probes), "{}", retry.probes);
    }
}
