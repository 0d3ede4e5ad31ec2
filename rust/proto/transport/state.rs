// SPDX-License-Identifier: GPL-2.0

//! The states of a queue pair, and which attributes each move between them takes.

mod mask;
mod table;

pub use self::mask::AttributeMask;

/// State of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// As created: does nothing.
    #[default]
    Reset,
    /// Takes receive requests, but no packets.
    Init,
    /// Ready to receive.
    Rtr,
    /// Ready to send, too: works in full.
    Rts,
    /// Send queue draining or drained: ends what it has started, starts nothing.
    Sqd,
    /// Send queue error: sends nothing after a failed request, but goes on to receive.
    Sqe,
    /// Failed: all requests are flushed.
    Err,
}

impl State {
    /// Whether a send request may be posted; it may end flushed ([`State::flushes_sends`]).
    #[inline]
    pub const fn may_post_send(self) -> bool {
        matches!(self, Self::Rts | Self::Sqd | Self::Sqe | Self::Err)
    }

    /// Whether a receive request may be posted; it may end flushed ([`State::flushes_receives`]).
    #[inline]
    pub const fn may_post_receive(self) -> bool {
        !matches!(self, Self::Reset)
    }

    /// Whether packets from the network are looked at; they are dropped otherwise.
    #[inline]
    pub const fn receives(self) -> bool {
        matches!(self, Self::Rtr | Self::Rts | Self::Sqd | Self::Sqe)
    }

    /// Whether the next send request in the queue is begun.
    #[inline]
    pub const fn starts_requests(self) -> bool {
        matches!(self, Self::Rts)
    }

    /// Whether send requests that have begun go on: their packets, retries and completions.
    #[inline]
    pub const fn continues_requests(self) -> bool {
        matches!(self, Self::Rts | Self::Sqd)
    }

    /// Whether send requests end as flushed.
    #[inline]
    pub const fn flushes_sends(self) -> bool {
        matches!(self, Self::Sqe | Self::Err)
    }

    /// Whether receive requests end as flushed.
    #[inline]
    pub const fn flushes_receives(self) -> bool {
        matches!(self, Self::Err)
    }
}

/// Transport service of a queue pair and, for XRC, which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QpType {
    /// Reliable connection.
    Rc,
    /// Unreliable connection.
    Uc,
    /// Unreliable datagram.
    Ud,
    /// General services interface: the datagrams of connection managers.
    Gsi,
    /// Extended reliable connection, the end that sends requests.
    XrcIni,
    /// Extended reliable connection, the end that serves requests.
    XrcTgt,
}

impl QpType {
    /// Whether it has one peer, named by modify.
    #[inline]
    pub const fn is_connected(self) -> bool {
        !self.is_datagram()
    }

    /// Whether requests are acknowledged and tried again.
    #[inline]
    pub const fn is_reliable(self) -> bool {
        matches!(self, Self::Rc | Self::XrcIni | Self::XrcTgt)
    }

    /// Whether each send request names its own destination.
    #[inline]
    pub const fn is_datagram(self) -> bool {
        matches!(self, Self::Ud | Self::Gsi)
    }

    /// Whether it sends requests. An XRC target does not: it only answers.
    #[inline]
    pub const fn has_requester(self) -> bool {
        !matches!(self, Self::XrcTgt)
    }

    /// Whether it takes requests. An XRC initiator does not: what it receives are the responses to
    /// its own.
    #[inline]
    pub const fn has_responder(self) -> bool {
        !matches!(self, Self::XrcIni)
    }
}

/// Why a modify is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModifyError {
    /// There is no such move.
    Transition,
    /// The move needs these attributes, and they were not given.
    Missing(AttributeMask),
    /// The move does not allow these attributes, and they were given.
    NotAllowed(AttributeMask),
    /// The value of this attribute is out of range.
    Value(AttributeMask),
    /// The queue pair is not in the state that the caller takes it to be in.
    CurrentState,
}

/// Whether a queue pair of this type may move so, with exactly these attributes.
///
/// Looks at no values: [`ModifyError::Value`] and [`ModifyError::CurrentState`] are for who knows
/// them.
pub fn check(
    qp_type: QpType,
    from: State,
    to: State,
    mask: AttributeMask,
) -> Result<(), ModifyError> {
    let row = table::find(qp_type, from, to).ok_or(ModifyError::Transition)?;

    // To name the current state makes sense only where packets may have changed it meanwhile.
    let current = AttributeMask::CURRENT_STATE;
    if mask.contains(current) && !from.receives() {
        return Err(ModifyError::NotAllowed(current));
    }

    let missing = row.required.without(mask);
    if !missing.is_empty() {
        return Err(ModifyError::Missing(missing));
    }
    let excess = mask.without(row.required).without(row.optional);
    if !excess.is_empty() {
        return Err(ModifyError::NotAllowed(excess));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use AttributeMask as A;
    use QpType::{
        Gsi,
        Rc,
        Uc,
        Ud,
        XrcIni,
        XrcTgt, //
    };
    use State::{
        Err as Failed,
        Init,
        Reset,
        Rtr,
        Rts,
        Sqd,
        Sqe, //
    };

    pub(super) const STATES: [State; 7] = [Reset, Init, Rtr, Rts, Sqd, Sqe, Failed];

    pub(super) const TYPES: [QpType; 6] = [Rc, Uc, Ud, Gsi, XrcIni, XrcTgt];

    pub(super) const ATTRIBUTES: [A; 19] = [
        A::CURRENT_STATE,
        A::ACCESS,
        A::PKEY,
        A::PORT,
        A::QKEY,
        A::ADDRESS,
        A::PATH_MTU,
        A::TIMEOUT,
        A::RETRY_CNT,
        A::RNR_RETRY,
        A::RQ_PSN,
        A::MAX_RD_ATOMIC,
        A::ALT_PATH,
        A::MIN_RNR_TIMER,
        A::SQ_PSN,
        A::MAX_DEST_RD_ATOMIC,
        A::PATH_MIG_STATE,
        A::DEST_QP,
        A::SQ_DRAINED_EVENT,
    ];

    fn set(attributes: &[A]) -> A {
        attributes.iter().fold(A::NONE, |all, &one| all.with(one))
    }

    /// The moves that exist; the same for all types, which differ by the attributes.
    const MOVES: [(State, State); 22] = [
        (Reset, Reset),
        (Reset, Init),
        (Init, Reset),
        (Init, Init),
        (Init, Rtr),
        (Init, Failed),
        (Rtr, Reset),
        (Rtr, Rts),
        (Rtr, Failed),
        (Rts, Reset),
        (Rts, Rts),
        (Rts, Sqd),
        (Rts, Failed),
        (Sqd, Reset),
        (Sqd, Rts),
        (Sqd, Sqd),
        (Sqd, Failed),
        (Sqe, Reset),
        (Sqe, Rts),
        (Sqe, Failed),
        (Failed, Reset),
        (Failed, Failed),
    ];

    #[test]
    fn only_the_listed_moves_exist() {
        for qp_type in TYPES {
            for from in STATES {
                for to in STATES {
                    let exists = MOVES.contains(&(from, to));
                    let all = set(&ATTRIBUTES);
                    for mask in ATTRIBUTES.into_iter().chain([A::NONE, all]) {
                        let refused =
                            check(qp_type, from, to, mask) == Err(ModifyError::Transition);
                        assert_ne!(exists, refused, "{qp_type:?} {from:?} {to:?} {mask:?}");
                    }
                }
            }
        }
    }

    /// The move needs exactly the one set and allows exactly the other besides.
    fn takes(qp_type: QpType, from: State, to: State, required: &[A], optional: &[A]) {
        let needed = set(required);
        assert_eq!(check(qp_type, from, to, needed), Ok(()), "{qp_type:?}");
        for one in ATTRIBUTES {
            let expected = if required.contains(&one) {
                let less = needed.without(one);
                assert_eq!(
                    check(qp_type, from, to, less),
                    Err(ModifyError::Missing(one))
                );
                Ok(())
            } else if optional.contains(&one) {
                Ok(())
            } else {
                Err(ModifyError::NotAllowed(one))
            };
            assert_eq!(
                check(qp_type, from, to, needed.with(one)),
                expected,
                "{qp_type:?} {one:?}"
            );
        }
    }

    #[test]
    fn ready_to_receive_takes_the_peer() {
        let peer = [A::ADDRESS, A::PATH_MTU, A::DEST_QP, A::RQ_PSN];
        let served = [
            A::ADDRESS,
            A::PATH_MTU,
            A::DEST_QP,
            A::RQ_PSN,
            A::MAX_DEST_RD_ATOMIC,
            A::MIN_RNR_TIMER,
        ];
        let optional = [A::ALT_PATH, A::ACCESS, A::PKEY];
        takes(Rc, Init, Rtr, &served, &optional);
        takes(XrcTgt, Init, Rtr, &served, &optional);
        takes(Uc, Init, Rtr, &peer, &optional);
        takes(XrcIni, Init, Rtr, &peer, &optional);
        takes(Ud, Init, Rtr, &[], &[A::PKEY, A::QKEY]);
        takes(Gsi, Init, Rtr, &[], &[A::PKEY, A::QKEY]);
    }

    #[test]
    fn ready_to_send_takes_the_retries() {
        let retried = [
            A::TIMEOUT,
            A::RETRY_CNT,
            A::RNR_RETRY,
            A::SQ_PSN,
            A::MAX_RD_ATOMIC,
        ];
        let optional = [A::CURRENT_STATE, A::ALT_PATH, A::ACCESS, A::PATH_MIG_STATE];
        let served = [
            A::CURRENT_STATE,
            A::ALT_PATH,
            A::ACCESS,
            A::MIN_RNR_TIMER,
            A::PATH_MIG_STATE,
        ];
        let datagram = [A::CURRENT_STATE, A::QKEY];
        takes(Rc, Rtr, Rts, &retried, &served);
        takes(XrcIni, Rtr, Rts, &retried, &optional);
        takes(XrcTgt, Rtr, Rts, &[A::TIMEOUT, A::SQ_PSN], &served);
        takes(Uc, Rtr, Rts, &[A::SQ_PSN], &optional);
        takes(Ud, Rtr, Rts, &[A::SQ_PSN], &datagram);
        takes(Gsi, Rtr, Rts, &[A::SQ_PSN], &datagram);
    }

    #[test]
    fn drained_reliable_connection_changes_nearly_all() {
        let optional = [
            A::PORT,
            A::ADDRESS,
            A::TIMEOUT,
            A::RETRY_CNT,
            A::RNR_RETRY,
            A::MAX_RD_ATOMIC,
            A::MAX_DEST_RD_ATOMIC,
            A::ALT_PATH,
            A::ACCESS,
            A::PKEY,
            A::MIN_RNR_TIMER,
            A::PATH_MIG_STATE,
        ];
        takes(Rc, Sqd, Sqd, &[], &optional);
    }

    #[test]
    fn send_queue_error_is_left_for_ready_to_send() {
        takes(Uc, Sqe, Rts, &[], &[A::CURRENT_STATE, A::ACCESS]);
        takes(Ud, Sqe, Rts, &[], &[A::CURRENT_STATE, A::QKEY]);
        takes(Gsi, Sqe, Rts, &[], &[A::CURRENT_STATE, A::QKEY]);
        for qp_type in [Rc, XrcIni, XrcTgt] {
            takes(qp_type, Sqe, Rts, &[], &[]);
        }
    }

    #[test]
    fn current_state_is_refused_before_what_is_missing() {
        let with_current = |from, to| check(Rc, from, to, A::CURRENT_STATE);
        let refused = Err(ModifyError::NotAllowed(A::CURRENT_STATE));
        assert_eq!(with_current(Reset, Init), refused);
        assert_eq!(with_current(Init, Rtr), refused);
        assert_eq!(with_current(Failed, Reset), refused);
        assert!(matches!(
            with_current(Rtr, Rts),
            Err(ModifyError::Missing(_))
        ));
        assert_eq!(with_current(Rts, Rts), Ok(()));
        assert_eq!(with_current(Sqd, Rts), Ok(()));
        // Also where the state may be named, the move must allow it.
        assert_eq!(with_current(Rts, Sqd), refused);
    }

    #[test]
    fn states_do_what_the_table_says() {
        let those = |does: fn(State) -> bool| {
            let all = STATES.into_iter().filter(move |&state| does(state));
            all.collect::<std::vec::Vec<_>>()
        };
        assert_eq!(State::default(), Reset);
        assert_eq!(those(State::may_post_send), [Rts, Sqd, Sqe, Failed]);
        assert_eq!(
            those(State::may_post_receive),
            [Init, Rtr, Rts, Sqd, Sqe, Failed]
        );
        assert_eq!(those(State::receives), [Rtr, Rts, Sqd, Sqe]);
        assert_eq!(those(State::starts_requests), [Rts]);
        assert_eq!(those(State::continues_requests), [Rts, Sqd]);
        assert_eq!(those(State::flushes_sends), [Sqe, Failed]);
        assert_eq!(those(State::flushes_receives), [Failed]);
    }

    #[test]
    fn types_have_their_properties() {
        let those = |has: fn(QpType) -> bool| {
            let all = TYPES.into_iter().filter(move |&qp_type| has(qp_type));
            all.collect::<std::vec::Vec<_>>()
        };
        assert_eq!(those(QpType::is_connected), [Rc, Uc, XrcIni, XrcTgt]);
        assert_eq!(those(QpType::is_reliable), [Rc, XrcIni, XrcTgt]);
        assert_eq!(those(QpType::is_datagram), [Ud, Gsi]);
        assert_eq!(those(QpType::has_requester), [Rc, Uc, Ud, Gsi, XrcIni]);
        assert_eq!(those(QpType::has_responder), [Rc, Uc, Ud, Gsi, XrcTgt]);
    }
}
