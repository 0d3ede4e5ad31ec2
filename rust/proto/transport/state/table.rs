// SPDX-License-Identifier: GPL-2.0

//! The moves between states, with the attributes that each needs and allows.
//!
//! They are those of `ib_modify_qp_is_ok` of ib_core, for the types that there are here.

use super::{
    AttributeMask as A,
    QpType,
    State, //
};
use QpType::{
    Gsi,
    Rc,
    Uc,
    Ud,
    XrcIni,
    XrcTgt, //
};
use State::{
    Err,
    Init,
    Reset,
    Rtr,
    Rts,
    Sqd,
    Sqe, //
};

/// A set of types, one bit each.
#[derive(Clone, Copy)]
struct Types(u8);

impl Types {
    /// The set of one type.
    const fn of(qp_type: QpType) -> Self {
        Self(match qp_type {
            Rc => 1 << 0,
            Uc => 1 << 1,
            Ud => 1 << 2,
            Gsi => 1 << 3,
            XrcIni => 1 << 4,
            XrcTgt => 1 << 5,
        })
    }

    /// Whether the type is in the set.
    const fn contains(self, qp_type: QpType) -> bool {
        self.0 & Self::of(qp_type).0 != 0
    }
}

/// A move of some types, and what goes with it.
pub(super) struct Row {
    from: State,
    to: State,
    types: Types,
    /// What the move needs.
    pub(super) required: A,
    /// What it allows besides.
    pub(super) optional: A,
}

/// A move that takes no attributes.
const fn row(from: State, to: State, mut list: &[QpType]) -> Row {
    let mut types = Types(0);
    while let [first, rest @ ..] = list {
        types = Types(types.0 | Types::of(*first).0);
        list = rest;
    }
    Row {
        from,
        to,
        types,
        required: A::NONE,
        optional: A::NONE,
    }
}

impl Row {
    /// The move, but it needs these attributes.
    const fn needs(self, list: &[A]) -> Self {
        Self {
            required: union(list),
            ..self
        }
    }

    /// The move, but it allows these attributes.
    const fn allows(self, list: &[A]) -> Self {
        Self {
            optional: union(list),
            ..self
        }
    }
}

/// The attributes of all the sets.
const fn union(mut list: &[A]) -> A {
    let mut all = A::NONE;
    while let [first, rest @ ..] = list {
        all = all.with(*first);
        list = rest;
    }
    all
}

/// Every type.
const ALL: &[QpType] = &[Rc, Uc, Ud, Gsi, XrcIni, XrcTgt];

/// The types that have one peer.
const CONNECTED: &[QpType] = &[Rc, Uc, XrcIni, XrcTgt];

/// All moves. No two rows have the move and a type in common.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    row(Reset, Reset, ALL),
    row(Reset, Init, CONNECTED)
        .needs(&[A::PKEY, A::PORT, A::ACCESS]),
    row(Reset, Init, &[Ud])
        .needs(&[A::PKEY, A::PORT, A::QKEY]),
    row(Reset, Init, &[Gsi])
        .needs(&[A::PKEY, A::QKEY]),

    row(Init, Reset, ALL),
    row(Init, Err, ALL),
    row(Init, Init, CONNECTED)
        .allows(&[A::PKEY, A::PORT, A::ACCESS]),
    row(Init, Init, &[Ud])
        .allows(&[A::PKEY, A::PORT, A::QKEY]),
    row(Init, Init, &[Gsi])
        .allows(&[A::PKEY, A::QKEY]),
    row(Init, Rtr, &[Rc, XrcTgt])
        .needs(&[A::ADDRESS, A::PATH_MTU, A::DEST_QP, A::RQ_PSN,
                 A::MAX_DEST_RD_ATOMIC, A::MIN_RNR_TIMER])
        .allows(&[A::ALT_PATH, A::ACCESS, A::PKEY]),
    row(Init, Rtr, &[Uc, XrcIni])
        .needs(&[A::ADDRESS, A::PATH_MTU, A::DEST_QP, A::RQ_PSN])
        .allows(&[A::ALT_PATH, A::ACCESS, A::PKEY]),
    row(Init, Rtr, &[Ud, Gsi])
        .allows(&[A::PKEY, A::QKEY]),

    row(Rtr, Reset, ALL),
    row(Rtr, Err, ALL),
    row(Rtr, Rts, &[Rc])
        .needs(&[A::TIMEOUT, A::RETRY_CNT, A::RNR_RETRY, A::SQ_PSN, A::MAX_RD_ATOMIC])
        .allows(&[A::CURRENT_STATE, A::ALT_PATH, A::ACCESS, A::MIN_RNR_TIMER, A::PATH_MIG_STATE]),
    row(Rtr, Rts, &[Uc])
        .needs(&[A::SQ_PSN])
        .allows(&[A::CURRENT_STATE, A::ALT_PATH, A::ACCESS, A::PATH_MIG_STATE]),
    row(Rtr, Rts, &[Ud, Gsi])
        .needs(&[A::SQ_PSN])
        .allows(&[A::CURRENT_STATE, A::QKEY]),
    row(Rtr, Rts, &[XrcIni])
        .needs(&[A::TIMEOUT, A::RETRY_CNT, A::RNR_RETRY, A::SQ_PSN, A::MAX_RD_ATOMIC])
        .allows(&[A::CURRENT_STATE, A::ALT_PATH, A::ACCESS, A::PATH_MIG_STATE]),
    row(Rtr, Rts, &[XrcTgt])
        .needs(&[A::TIMEOUT, A::SQ_PSN])
        .allows(&[A::CURRENT_STATE, A::ALT_PATH, A::ACCESS, A::MIN_RNR_TIMER, A::PATH_MIG_STATE]),

    row(Rts, Reset, ALL),
    row(Rts, Err, ALL),
    row(Rts, Rts, &[Rc, XrcTgt])
        .allows(&[A::CURRENT_STATE, A::ACCESS, A::ALT_PATH, A::PATH_MIG_STATE, A::MIN_RNR_TIMER]),
    row(Rts, Rts, &[Uc, XrcIni])
        .allows(&[A::CURRENT_STATE, A::ACCESS, A::ALT_PATH, A::PATH_MIG_STATE]),
    row(Rts, Rts, &[Ud, Gsi])
        .allows(&[A::CURRENT_STATE, A::QKEY]),
    row(Rts, Sqd, ALL)
        .allows(&[A::SQ_DRAINED_EVENT]),

    row(Sqd, Reset, ALL),
    row(Sqd, Err, ALL),
    row(Sqd, Rts, &[Rc, XrcTgt])
        .allows(&[A::CURRENT_STATE, A::ALT_PATH, A::ACCESS, A::MIN_RNR_TIMER, A::PATH_MIG_STATE]),
    row(Sqd, Rts, &[Uc, XrcIni])
        .allows(&[A::CURRENT_STATE, A::ALT_PATH, A::ACCESS, A::PATH_MIG_STATE]),
    row(Sqd, Rts, &[Ud, Gsi])
        .allows(&[A::CURRENT_STATE, A::QKEY]),
    row(Sqd, Sqd, &[Rc])
        .allows(&[A::PORT, A::ADDRESS, A::TIMEOUT, A::RETRY_CNT, A::RNR_RETRY, A::MAX_RD_ATOMIC,
                  A::MAX_DEST_RD_ATOMIC, A::ALT_PATH, A::ACCESS, A::PKEY, A::MIN_RNR_TIMER,
                  A::PATH_MIG_STATE]),
    row(Sqd, Sqd, &[Uc])
        .allows(&[A::ADDRESS, A::ALT_PATH, A::ACCESS, A::PKEY, A::PATH_MIG_STATE]),
    row(Sqd, Sqd, &[Ud, Gsi])
        .allows(&[A::PKEY, A::QKEY]),
    row(Sqd, Sqd, &[XrcIni])
        .allows(&[A::PORT, A::ADDRESS, A::TIMEOUT, A::RETRY_CNT, A::RNR_RETRY, A::MAX_RD_ATOMIC,
                  A::ALT_PATH, A::ACCESS, A::PKEY, A::PATH_MIG_STATE]),
    row(Sqd, Sqd, &[XrcTgt])
        .allows(&[A::PORT, A::ADDRESS, A::TIMEOUT, A::MAX_DEST_RD_ATOMIC, A::ALT_PATH, A::ACCESS,
                  A::PKEY, A::MIN_RNR_TIMER, A::PATH_MIG_STATE]),

    row(Sqe, Reset, ALL),
    row(Sqe, Err, ALL),
    row(Sqe, Rts, &[Uc])
        .allows(&[A::CURRENT_STATE, A::ACCESS]),
    row(Sqe, Rts, &[Ud, Gsi])
        .allows(&[A::CURRENT_STATE, A::QKEY]),
    // These never come to be in SQE; ib_core has the move all the same, without attributes.
    row(Sqe, Rts, &[Rc, XrcIni, XrcTgt]),

    row(Err, Reset, ALL),
    row(Err, Err, ALL),
];

/// The row of this move of this type.
pub(super) fn find(qp_type: QpType, from: State, to: State) -> Option<&'static Row> {
    TABLE
        .iter()
        .find(|row| row.from == from && row.to == to && row.types.contains(qp_type))
}

#[cfg(test)]
mod tests {
    use super::super::{
        check,
        tests::{
            ATTRIBUTES,
            STATES,
            TYPES, //
        },
        ModifyError, //
    };
    use super::*;

    /// Every row, once for each of its types.
    fn rows() -> impl Iterator<Item = (QpType, &'static Row)> {
        let of_row = |row: &'static Row| TYPES.into_iter().map(move |qp_type| (qp_type, row));
        let all = TABLE.iter().flat_map(of_row);
        all.filter(|(qp_type, row)| row.types.contains(*qp_type))
    }

    #[test]
    fn rows_do_not_overlap() {
        for qp_type in TYPES {
            for from in STATES {
                for to in STATES {
                    let same = |row: &&Row| row.from == from && row.to == to;
                    let of_type = |row: &&Row| row.types.contains(qp_type);
                    let count = TABLE.iter().filter(same).filter(of_type).count();
                    assert!(count <= 1, "{qp_type:?} {from:?} {to:?}");
                }
            }
        }
        for row in TABLE {
            assert!(!row.required.intersects(row.optional));
            assert!(row.types.0 != 0);
        }
    }

    #[test]
    fn required_attributes_suffice_and_are_needed() {
        for (qp_type, row) in rows() {
            let tried = |mask| check(qp_type, row.from, row.to, mask);
            assert_eq!(tried(row.required), Ok(()));
            for one in ATTRIBUTES {
                if row.required.contains(one) {
                    let missing = Result::Err(ModifyError::Missing(one));
                    assert_eq!(tried(row.required.without(one)), missing);
                    assert_eq!(tried(row.required.without(one).with(row.optional)), missing);
                }
            }
        }
    }

    #[test]
    fn optional_attributes_are_allowed_and_no_others() {
        for (qp_type, row) in rows() {
            let tried = |mask| check(qp_type, row.from, row.to, mask);
            let all = row.required.with(row.optional);
            assert_eq!(tried(all), Ok(()));
            for one in ATTRIBUTES {
                if row.optional.contains(one) {
                    assert_eq!(tried(row.required.with(one)), Ok(()));
                } else if !row.required.contains(one) {
                    let refused = Result::Err(ModifyError::NotAllowed(one));
                    assert_eq!(tried(row.required.with(one)), refused);
                    assert_eq!(tried(all.with(one)), refused);
                }
            }
        }
    }

    #[test]
    fn current_state_is_allowed_only_where_it_may_be_named() {
        for row in TABLE {
            let named = row.required.with(row.optional).contains(A::CURRENT_STATE);
            assert!(!named || matches!(row.from, Rtr | Rts | Sqd | Sqe));
        }
    }
}
