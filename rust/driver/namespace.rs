// SPDX-License-Identifier: GPL-2.0

//! The network namespaces that have links, and their sockets on port 4791.
//!
//! The sockets are open as long as somebody holds an [`Attachment`], and no longer than the
//! namespace lasts.
//!
//! Lock order: [`Namespaces::list`] and [`Namespace::sockets`] are never held together. The latter
//! is held while sockets are opened and closed, in process context.

use crate::{
    rx::PortTable,
    state::STATE, //
};
use kernel::{
    prelude::*,
    sync::{
        new_mutex,
        Arc,
        Mutex, //
    }, //
};
use kernel_ext::net::{
    ExitHandler,
    Family,
    Net,
    NetId,
    UdpTunnel, //
};
use oxe_proto::wire::roce::UDP_PORT;

/// All namespaces that have, or had, links.
#[pin_data]
pub(crate) struct Namespaces {
    #[pin]
    list: Mutex<KVec<Arc<Namespace>>>,
}

impl Namespaces {
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self { list <- new_mutex!(KVec::new(), "oxe::Namespaces::list") })
    }

    /// The entry of `net`, made if need be. The caller keeps `net` from ending.
    pub(crate) fn get(&self, net: &Net) -> Result<Arc<Namespace>> {
        let mut list = self.list.lock();
        if let Some(found) = list.iter().find(|entry| entry.id() == net.id()) {
            return Ok(found.clone());
        }
        let new = Namespace::new(net.id())?;
        list.push(new.clone(), GFP_KERNEL)?;
        Ok(new)
    }

    fn take(&self, id: NetId) -> Option<Arc<Namespace>> {
        let mut list = self.list.lock();
        let index = list.iter().position(|entry| entry.id() == id)?;
        list.remove(index).ok()
    }
}

/// A namespace.
#[pin_data]
pub(crate) struct Namespace {
    ports: Arc<PortTable>,
    #[pin]
    sockets: Mutex<Sockets>,
}

/// What an open namespace has open.
struct Sockets {
    /// Attachments that there are.
    users: usize,
    open: Option<Open>,
}

/// The open sockets, one for each family that the kernel runs with.
struct Open {
    _v4: UdpTunnel<PortTable>,
    _v6: Option<UdpTunnel<PortTable>>,
}

impl Namespace {
    fn new(id: NetId) -> Result<Arc<Self>> {
        let ports = PortTable::new(id)?;
        Arc::pin_init(
            pin_init!(Self {
                ports,
                sockets <- new_mutex!(Sockets { users: 0, open: None }, "oxe::Namespace::sockets"),
            }),
            GFP_KERNEL,
        )
    }

    pub(crate) fn id(&self) -> NetId {
        self.ports.net()
    }

    /// The links of the namespace, by interface index.
    pub(crate) fn ports(&self) -> &PortTable {
        &self.ports
    }

    fn open(&self, net: &Net) -> Result<Open> {
        let v4 = UdpTunnel::open(net, Family::V4, UDP_PORT, self.ports.clone())?;
        let v6 = match UdpTunnel::open(net, Family::V6, UDP_PORT, self.ports.clone()) {
            Ok(socket) => Some(socket),
            // A kernel without IPv6, or told to do without.
            Err(e) if e == EAFNOSUPPORT || e == EPFNOSUPPORT => None,
            Err(e) => return Err(e),
        };
        Ok(Open { _v4: v4, _v6: v6 })
    }

    fn close(&self) {
        // Closed with the lock held: a socket that is opened next finds the port free.
        self.sockets.lock().open = None;
    }
}

/// A share in the sockets of a namespace: they are open while it lives, unless the namespace ends
/// first.
pub(crate) struct Attachment(Arc<Namespace>);

impl Attachment {
    /// Opens the sockets if they are not.
    ///
    /// Context: process, without the rtnl lock. The caller keeps `net`, which is that of
    /// `namespace`, from ending.
    ///
    /// # Errors
    ///
    /// `EADDRINUSE` if somebody else has the port; `ENOMEM`.
    pub(crate) fn new(namespace: Arc<Namespace>, net: &Net) -> Result<Self> {
        let mut sockets = namespace.sockets.lock();
        if sockets.open.is_none() {
            sockets.open = Some(namespace.open(net)?);
        }
        sockets.users = sockets.users.saturating_add(1);
        drop(sockets);
        Ok(Self(namespace))
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut sockets = self.0.sockets.lock();
        sockets.users = sockets.users.saturating_sub(1);
        if sockets.users == 0 {
            sockets.open = None;
        }
    }
}

/// Ends what is left in namespaces that end.
///
/// The network devices are gone by then and their links are being taken down, which need not be
/// over for anything here to be safe. It is waited for so that ib_core does not unregister devices
/// while it ends the next namespace. Not without limit: the caller holds `pernet_ops_rwsem`, and
/// ib_core may be waiting for a user of the device who waits for that.
pub(crate) struct NamespaceExit;

impl ExitHandler for NamespaceExit {
    fn exit(id: NetId) {
        let Some(state) = STATE.get() else { return };
        if let Some(namespace) = state.namespaces.take(id) {
            namespace.close();
        }
        state.wait_for_end(|link| link.is_in(id));
    }
}
