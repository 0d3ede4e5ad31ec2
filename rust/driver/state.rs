// SPDX-License-Identifier: GPL-2.0

//! What the module knows: the links, the namespaces, the queue for work that cannot be done where
//! it comes up.
//!
//! Lock order: rtnl lock, then [`State::links`], then the leaves of a link.

use crate::{
    link::Link,
    namespace::Namespaces,
    numbers::Numbers,
    qp::Qp, //
};
use kernel::{
    prelude::*,
    sync::{
        new_condvar,
        new_mutex,
        Arc,
        CondVar,
        CondVarTimeoutResult,
        Mutex, //
    },
    time::msecs_to_jiffies, //
};
use kernel_ext::{
    net::{
        NetDevice,
        RtnlGuard, //
    },
    sync::Slot,
    workqueue::{
        OwnedQueue,
        Purpose, //
    }, //
};

/// The state of the loaded module, for callbacks that have no other way to it.
pub(crate) static STATE: Slot<State> = Slot::new();

/// Numbers of queue pairs: the first ones have a meaning, the last means multicast.
const FIRST_QP: u32 = 16;
const LAST_QP: u32 = 0x00ff_fffe;

/// How long the end of a namespace waits for the end of its links, in ms.
const END_WAIT_MS: u32 = 5000;

/// The module's state.
#[pin_data]
pub(crate) struct State {
    /// Every link, from before its registration until after its device is surely gone.
    #[pin]
    links: Mutex<KVec<Arc<Link>>>,
    /// Told of each link that leaves the list.
    #[pin]
    removed: CondVar,
    /// The namespaces with links.
    #[pin]
    pub(crate) namespaces: Namespaces,
    /// The queue pairs of all devices, by number: a packet that stays on this host needs no other
    /// way to be told whose it is.
    #[pin]
    pub(crate) qps: Numbers<Qp>,
    /// Takes devices down.
    pub(crate) queue: OwnedQueue,
    /// Runs queue pairs.
    pub(crate) traffic: OwnedQueue,
}

impl State {
    pub(crate) fn new() -> Result<Arc<Self>> {
        let queue = OwnedQueue::new(c"oxe", Purpose::Administration)?;
        let traffic = OwnedQueue::new(c"oxe_qp", Purpose::Traffic)?;
        Arc::pin_init(
            pin_init!(Self {
                links <- new_mutex!(KVec::new(), "oxe::State::links"),
                removed <- new_condvar!("oxe::State::removed"),
                namespaces <- Namespaces::new(),
                qps <- Numbers::new(FIRST_QP..=LAST_QP),
                queue,
                traffic,
            }),
            GFP_KERNEL,
        )
    }

    /// Enters a link.
    ///
    /// # Errors
    ///
    /// `EEXIST` if its network device has one; `ENODEV` if the network device is going away: its
    /// `Unregister` event may have passed already.
    pub(crate) fn enter(&self, link: &Arc<Link>, netdev: &NetDevice, rtnl: &RtnlGuard) -> Result {
        if !netdev.is_registered(rtnl) {
            return Err(ENODEV);
        }
        let mut links = self.links.lock();
        if links.iter().any(|other| other.is_on(netdev)) {
            return Err(EEXIST);
        }
        links.push(link.clone(), GFP_KERNEL)?;
        Ok(())
    }

    /// Removes a link that was entered, if it is still there.
    pub(crate) fn remove(&self, link: &Link) {
        let mut links = self.links.lock();
        let found = links.iter().position(|other| core::ptr::eq(&**other, link));
        let removed = found.map(|index| links.remove(index));
        drop(links);
        self.removed.notify_all();
        drop(removed);
    }

    /// The link on `netdev`, if there is one.
    pub(crate) fn find(&self, netdev: &NetDevice) -> Option<Arc<Link>> {
        self.links
            .lock()
            .iter()
            .find(|link| link.is_on(netdev))
            .cloned()
    }

    /// Takes all links down and waits for it: their devices are gone for good. No link may be added
    /// meanwhile.
    ///
    /// Context: process, without the rtnl lock.
    pub(crate) fn take_down_all(&self) {
        loop {
            let first = self.links.lock().first().cloned();
            let Some(link) = first else { break };
            link.take_down();
        }
    }

    /// Waits until the chosen links have been taken down by others, for some seconds at most.
    ///
    /// Context: process, without the rtnl lock.
    pub(crate) fn wait_for_end(&self, chosen: impl Fn(&Link) -> bool) {
        let mut left = msecs_to_jiffies(END_WAIT_MS);
        let mut links = self.links.lock();
        while links.iter().any(|link| chosen(link)) {
            match self.removed.wait_interruptible_timeout(&mut links, left) {
                CondVarTimeoutResult::Woken { jiffies } => left = jiffies,
                CondVarTimeoutResult::Timeout | CondVarTimeoutResult::Signal { .. } => break,
            }
        }
    }
}
