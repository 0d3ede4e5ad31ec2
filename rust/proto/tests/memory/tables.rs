// SPDX-License-Identifier: GPL-2.0

//! The driver: tables of descriptors, counts kept as [`WindowChange`] says.

use super::model::{
    Answer,
    Bind,
    Who,
    OBJECTS, //
};
use oxe_proto::memory::{
    BindRequest,
    Claim,
    Key,
    KeyIndex,
    PdId,
    Place,
    QpId,
    Region,
    Rights,
    Window,
    WindowChange, //
};

#[derive(Default)]
pub(crate) struct Driver {
    pub(crate) regions: [Option<Region>; OBJECTS],
    pub(crate) windows: [Option<Window>; OBJECTS],
}

pub(crate) fn key(raw: u32) -> Key {
    Key::from_raw(raw).unwrap()
}

pub(crate) fn slot(index: KeyIndex) -> usize {
    index.get() as usize
}

impl Driver {
    pub(crate) fn region(&self, key: Key) -> Option<&Region> {
        self.regions.get(slot(key.index()))?.as_ref()
    }

    pub(crate) fn window(&self, key: Key) -> Option<&Window> {
        self.windows.get(slot(key.index()))?.as_ref()
    }

    /// An access by whichever of the two the key names.
    pub(crate) fn access(
        &self,
        claim: Claim,
        region: impl FnOnce(&Region) -> Option<Place>,
        window: impl FnOnce(&Window) -> Option<Place>,
    ) -> Answer {
        let place = if let Some(named) = self.window(claim.key) {
            let place = window(named)?;
            let behind = self.region(place.region).unwrap();
            assert_eq!(behind.confirm(claim.pd, place), Ok(()));
            place
        } else {
            region(self.region(claim.key)?)?
        };
        Some((place.region.index().get(), u128::from(place.offset)))
    }

    fn change(&mut self, change: WindowChange) {
        self.windows[slot(change.window.key().index())] = Some(change.window);
        if let Some(left) = change.left {
            let region = &mut self.regions[slot(left)];
            *region = region.map(Region::without_window);
        }
        if let Some(entered) = change.entered {
            let region = &mut self.regions[slot(entered)];
            *region = region.map(Region::with_window);
        }
    }

    pub(crate) fn bind(&mut self, who: Who, bind: Bind) -> Option<()> {
        let request = BindRequest {
            key: key(who.key),
            variant: bind.variant,
            pd: PdId(who.pd),
            qp: QpId(who.qp),
            region: Key::from_raw(bind.region),
            address: bind.address,
            length: bind.length,
            rights: Rights::from_verbs(bind.flags),
        };
        let region = request.region.and_then(|key| self.region(key));
        let change = self.window(request.key)?.bind(&request, region).ok()?;
        self.change(change);
        Some(())
    }

    pub(crate) fn invalidate(&mut self, who: Who, remote: bool) -> Option<()> {
        let claim = who.claim();
        if let Some(window) = self.window(claim.key) {
            let change = if remote {
                window.invalidate_remote(claim).ok()
            } else {
                window.invalidate_local(claim.key, claim.pd).ok()
            };
            self.change(change?);
        } else {
            let region = *self.region(claim.key)?;
            let region = if remote {
                region.invalidate_remote(claim).ok()
            } else {
                region.invalidate_local(claim.key, claim.pd).ok()
            };
            self.regions[slot(claim.key.index())] = Some(region?);
        }
        Some(())
    }
}

impl Who {
    pub(crate) fn claim(self) -> Claim {
        Claim {
            key: key(self.key),
            pd: PdId(self.pd),
            qp: QpId(self.qp),
        }
    }
}
