// SPDX-License-Identifier: GPL-2.0

//! What the rules are tried with.

use oxe_proto::{
    memory::{
        BindRequest,
        Claim,
        Key,
        KeyIndex,
        PdId,
        QpId,
        Region,
        Registration,
        RemoteUse,
        Rights,
        Window,
        WindowType, //
    },
    wire::flush::Feth, //
};

pub(crate) const PD: PdId = PdId(1);
pub(crate) const OTHER_PD: PdId = PdId(2);
pub(crate) const QP: QpId = QpId(1);
pub(crate) const OTHER_QP: QpId = QpId(2);

pub(crate) const START: u64 = 0x10_0003;
pub(crate) const LENGTH: u64 = 0x1000;
pub(crate) const END: u64 = START + LENGTH;

/// The uses of memory, each with its right.
pub(crate) const USES: [(RemoteUse, Rights); 3] = [
    (RemoteUse::Read, Rights::REMOTE_READ),
    (RemoteUse::Write, Rights::REMOTE_WRITE),
    (RemoteUse::Atomic, Rights::REMOTE_ATOMIC),
];

pub(crate) const TYPES: [WindowType; 2] = [WindowType::Type1, WindowType::Type2];

pub(crate) const FULL: Rights = Rights::REMOTE.with(Rights::LOCAL_WRITE).with(Rights::BIND);

pub(crate) fn key(index: u32, variant: u8) -> Key {
    Key::new(KeyIndex::new(index).unwrap(), variant)
}

pub(crate) fn claim(key: Key) -> Claim {
    Claim {
        key,
        pd: PD,
        qp: QP,
    }
}

pub(crate) fn region(rights: Rights) -> Region {
    Region::user(key(7, 0x55), PD, rights, START, LENGTH).unwrap()
}

pub(crate) fn registration(rights: Rights) -> Registration {
    Registration {
        key: key(8, 1),
        pd: PD,
        rights,
        start: START,
        length: LENGTH,
        capacity: LENGTH,
    }
}

pub(crate) fn fast(rights: Rights) -> Region {
    let free = Region::fast(key(8, 0), PD);
    free.register(&registration(rights)).unwrap()
}

pub(crate) fn window(window_type: WindowType) -> Window {
    Window::new(key(9, 0xff), PD, window_type)
}

/// Binds all but the first and last 16 bytes of [`region`].
pub(crate) fn request() -> BindRequest {
    BindRequest {
        key: key(9, 0xff),
        variant: 0,
        pd: PD,
        qp: QP,
        region: Some(key(7, 0x55)),
        address: START + 16,
        length: LENGTH - 32,
        rights: Rights::REMOTE,
    }
}

pub(crate) fn bound(window_type: WindowType) -> Window {
    let region = region(FULL);
    let change = window(window_type).bind(&request(), Some(&region)).unwrap();
    assert_eq!(
        (change.left, change.entered),
        (None, KeyIndex::new(7)),
        "{change:?}"
    );
    change.window
}

pub(crate) fn flush(visible: bool, persistent: bool, whole_region: bool) -> Feth {
    Feth {
        visible,
        persistent,
        whole_region,
    }
}
