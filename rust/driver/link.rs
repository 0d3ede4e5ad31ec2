// SPDX-License-Identifier: GPL-2.0

//! A link: the tie between a network device and an RDMA device, from `rdma link add` to the end of
//! either.
//!
//! Anybody may end a link, in any order and at the same time: `rdma link del`, the network device's
//! unregistration or its move to another namespace, the end of the namespace, the unloading of this
//! module or of `rdma_rxe` (`docs/architecture.md`, "Two drivers, one identity"). All of it comes
//! down to three steps, each done once:
//!
//! 1. [`Link::detach`]: the network device is let go of; nothing is received any more.
//! 2. [`Link::released`], ib_core's last call: the sockets are let go of, too.
//! 3. [`Link::take_down`]: whoever else unregistered the device is surely out of our code; the
//!    memory may go.
//!
//! Lock order: [`Link::registering`], then ib_core's registration lock and the rtnl lock. The other
//! locks are leaves.

use crate::{
    counters::Counters,
    device::OxeDevice,
    namespace::{
        Attachment,
        Namespace, //
    },
    numbers::Numbers,
    objects::Objects,
    qp::{
        to_mtu,
        Qp, //
    },
    state::{
        State,
        STATE, //
    }, //
};
use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            AtomicFlag,
            Relaxed, //
        },
        new_mutex,
        new_spinlock,
        rcu,
        Arc,
        ArcBorrow,
        Mutex,
        SpinLock, //
    },
    workqueue::{
        impl_has_work,
        new_work,
        Work,
        WorkItem, //
    }, //
};
use kernel_ext::{
    net::{
        Eui64,
        LinkType,
        Net,
        NetDevice,
        NetId,
        NetRef,
        RouteCache,
        RtnlGuard, //
    },
    rdma::{
        link::LinkDriver,
        Handle,
        PortState,
        Registration,
        Unregistered, //
    }, //
    sync::{
        new_spinlock_bh,
        SpinLockBh, //
    },
};
use oxe_proto::{
    types::{
        Mtu,
        Qpn, //
    },
    wire::roce::UDP_PORT, //
};

/// See the module's description.
#[pin_data]
pub(crate) struct Link {
    state: Arc<State>,
    /// The network device until it goes.
    #[pin]
    netdev: SpinLockBh<Option<ARef<NetDevice>>>,
    /// Its index in the namespace, by which received packets find the link.
    ifindex: usize,
    namespace: Arc<Namespace>,
    /// The share in the namespace's sockets.
    #[pin]
    attachment: Mutex<Option<Attachment>>,
    /// Held while the RDMA device is registered, so that an end that comes meanwhile waits for it.
    #[pin]
    registering: Mutex<()>,
    /// The RDMA device, once it is registered.
    #[pin]
    device: SpinLock<Option<Registration<OxeDevice>>>,
    /// Whether the port was active when last looked at.
    active: AtomicFlag,
    pub(crate) counters: Counters,
    /// The routes that packets take.
    pub(crate) routes: RouteCache,
    #[pin]
    pub(crate) objects: Objects,
    /// Runs [`Link::take_down`].
    #[pin]
    work: Work<Link>,
}

impl_has_work! {
    impl HasWork<Self> for Link { self.work }
}

impl WorkItem for Link {
    type Pointer = Arc<Self>;

    fn run(link: Arc<Self>) {
        link.take_down();
    }
}

impl Link {
    /// Makes a link called `name` on `netdev`.
    fn add(state: Arc<State>, name: &CStr, netdev: &NetDevice) -> Result {
        // Under the lock the network device stays in its namespace, and the namespace in existence.
        let rtnl = RtnlGuard::lock();
        let net = netdev.net(&rtnl).try_get().ok_or(ENODEV)?;
        let link_type = netdev.link_type(&rtnl);
        let guid = match link_type {
            LinkType::Ethernet => netdev.eui64(&rtnl).ok_or(EINVAL)?,
            // No address to derive one from.
            LinkType::None => Eui64::random(),
            LinkType::Loopback | LinkType::Other(_) => {
                pr_err!(
                    "{}: {} cannot carry RoCEv2: an Ethernet or TUN device is needed\n",
                    name,
                    netdev.name()
                );
                return Err(EINVAL);
            }
        };
        drop(rtnl);

        let link = Self::attach(state, name, netdev, &net, link_type)?;
        link.register(name, netdev, &net, guid).inspect_err(|_| {
            link.let_go();
            link.state.remove(&link);
        })
    }

    /// A link that receives packets but has no RDMA device yet.
    fn attach(
        state: Arc<State>,
        name: &CStr,
        netdev: &NetDevice,
        net: &NetRef,
        link_type: LinkType,
    ) -> Result<Arc<Self>> {
        let taken = || {
            pr_err!("{}: {} has an oxe device already\n", name, netdev.name());
        };
        // What would fail below anyway fails before a socket is opened.
        if state.find(netdev).is_some() {
            taken();
            return Err(EEXIST);
        }
        let namespace = state.namespaces.get(net)?;
        let attachment = Attachment::new(namespace.clone(), net).inspect_err(|&e| {
            if e == EADDRINUSE {
                pr_err!(
                    "{}: UDP port {} is in use in the network namespace of {}\n",
                    name,
                    UDP_PORT,
                    netdev.name()
                );
            }
        })?;
        let ifindex = netdev.ifindex();
        let active = PortState::of(netdev) == PortState::Active;
        let link = Arc::pin_init(
            try_pin_init!(Self {
                netdev <- new_spinlock_bh!(Some(netdev.into()), "oxe::Link::netdev"),
                ifindex,
                namespace,
                attachment <- new_mutex!(Some(attachment), "oxe::Link::attachment"),
                registering <- new_mutex!((), "oxe::Link::registering"),
                device <- new_spinlock!(None, "oxe::Link::device"),
                active: AtomicFlag::new(active),
                counters: Counters::new(),
                routes: RouteCache::new(net)?,
                objects <- Objects::new(),
                work <- new_work!("oxe::Link::work"),
                state,
            }? Error),
            GFP_KERNEL,
        )?;

        let rtnl = RtnlGuard::lock();
        if netdev.net_id() != net.id()
            || netdev.ifindex() != link.ifindex
            || netdev.link_type(&rtnl) != link_type
        {
            return Err(ENODEV);
        }
        link.state.enter(&link, netdev, &rtnl).inspect_err(|&e| {
            if e == EEXIST {
                taken();
            }
        })?;
        link.namespace
            .ports()
            .insert(&link, link.ifindex)
            .inspect_err(|_| {
                link.state.remove(&link);
            })?;
        Ok(link)
    }

    /// Makes and registers the RDMA device.
    fn register(
        self: &Arc<Self>,
        name: &CStr,
        netdev: &NetDevice,
        net: &Net,
        guid: Eui64,
    ) -> Result {
        let registering = self.registering.lock();
        // If the network device went before the lock was taken, nobody will take the device down.
        if !self.is_on(netdev) {
            return Err(ENODEV);
        }
        let device = Unregistered::with_verbs(net, guid, c"oxe", self.clone())?;
        let registration = device.register(name).inspect_err(|&e| {
            if e == EEXIST {
                pr_err!("{}: there is an RDMA device of that name\n", name);
            }
        })?;
        *self.device.lock() = Some(registration);
        drop(registering);
        pr_info!("{}: added on {}\n", name, netdev.name());
        if netdev.vlan_lower_dev().is_some() {
            // ib_core looks below a VLAN for the RDMA device (is_eth_port_of_netdev_filter()).
            pr_info!(
                "{}: {} is a VLAN and gives the link-local GID alone; a link on the device below \
                 has all its addresses\n",
                name,
                netdev.name()
            );
        }
        // For what happened to the network device in the meantime. ib_core's users hear of the
        // state for the first time by this. Events have to wait.
        let _rtnl = RtnlGuard::lock();
        self.update_port_state(netdev);
        Ok(())
    }

    /// Whether the link's network device is, or was, in that namespace.
    pub(crate) fn is_in(&self, net: NetId) -> bool {
        self.namespace.id() == net
    }

    /// Whether the link is on `netdev` (and not detached).
    pub(crate) fn is_on(&self, netdev: &NetDevice) -> bool {
        self.netdev
            .lock()
            .as_ref()
            .is_some_and(|own| own.is(netdev))
    }

    /// The queue pairs of all devices, by number.
    pub(crate) fn qps(&self) -> &Numbers<Qp> {
        &self.state.qps
    }

    /// The queue pair of this link that packets to `qpn` are for. Context: any.
    pub(crate) fn find_qp<'a>(
        &'a self,
        qpn: Qpn,
        rcu: &'a rcu::Guard,
    ) -> Option<ArcBorrow<'a, Qp>> {
        if qpn == Qpn::GSI {
            return self.objects.special_qps.get(qpn.get() as usize, rcu);
        }
        let found = self.state.qps.get(qpn.get(), rcu);
        found.filter(|qp| qp.is_of(self))
    }

    /// Lets a queue pair's work item run. Context: any.
    pub(crate) fn enqueue(&self, qp: Arc<Qp>) {
        // If it is queued already, it sees what there is to do when it runs.
        let _ = self.state.traffic.enqueue(qp);
    }

    /// The largest path MTU that fits through the network device.
    pub(crate) fn active_mtu(&self) -> Mtu {
        self.netdev()
            .and_then(|netdev| kernel_ext::rdma::Mtu::of(&netdev))
            .and_then(to_mtu)
            .unwrap_or(Mtu::B256)
    }

    /// The network device, unless detached. Context: process or softirq.
    pub(crate) fn netdev(&self) -> Option<ARef<NetDevice>> {
        self.netdev.lock().clone()
    }

    /// The interface that packets from an address of the interface `wanted` leave by, or from an
    /// address whose interface has gone (0).
    ///
    /// Context: process or softirq.
    ///
    /// # Errors
    ///
    /// `ENODEV` if it is neither the network device nor one above it, or there is none any more.
    pub(crate) fn interface_out(&self, wanted: usize) -> Result<usize> {
        let netdev = self.netdev().ok_or(ENODEV)?;
        let own = netdev.ifindex();
        if wanted == 0 || wanted == own {
            Ok(own)
        } else if netdev.is_below(wanted) {
            Ok(wanted)
        } else {
            Err(ENODEV)
        }
    }

    /// Lets go of the network device: its references are dropped, and nothing is received from it
    /// or sent any more, once the first of several callers is back.
    ///
    /// Context: process; the rtnl lock may be held.
    pub(crate) fn detach(&self) {
        // In this order: whoever finds the network device free finds its place in the table free.
        self.namespace.ports().remove(self, self.ifindex);
        let netdev = self.netdev.lock().take();
        drop(netdev);
        self.routes.close();
    }

    /// The network device goes away. Context: with the rtnl lock held, so the RDMA device has to go
    /// later.
    pub(crate) fn netdev_gone(self: Arc<Self>, netdev: &NetDevice) {
        pr_info!("{} goes, and its RDMA device with it\n", netdev.name());
        self.detach();
        self.queue_take_down();
    }

    /// Lets go of the network device and of the sockets.
    ///
    /// Context: process, without the rtnl lock.
    fn let_go(&self) {
        self.detach();
        let attachment = self.attachment.lock().take();
        drop(attachment);
    }

    /// ib_core's last call for the device.
    pub(crate) fn released(self: Arc<Self>) {
        self.let_go();
        // Not from here: whoever unregisters the device is still inside of it.
        self.queue_take_down();
    }

    fn queue_take_down(self: Arc<Self>) {
        let state = self.state.clone();
        // If it is queued already, once is enough.
        let _ = state.queue.enqueue(self);
    }

    /// Unregisters the RDMA device if nobody has, waits for whoever is at it, and forgets the link.
    ///
    /// Context: process, without the rtnl lock. Any number of times.
    pub(crate) fn take_down(&self) {
        // Waits for a registration that goes on.
        drop(self.registering.lock());
        // The registration stays in its place meanwhile, so that others who come wait as well. This
        // leads to `released`, which queues this function once more, to no effect.
        if let Some(handle) = self.handle() {
            handle.unregister();
        }
        self.state.remove(self);
        let registration = self.device.lock().take();
        drop(registration);
    }

    /// A handle of the RDMA device, if it was registered and is not forgotten.
    fn handle(&self) -> Option<Handle<OxeDevice>> {
        self.device.lock().as_ref().map(Registration::handle)
    }

    /// Tells the RDMA device's users if the port's state is another than before.
    ///
    /// Context: process; the rtnl lock may be held.
    pub(crate) fn update_port_state(&self, netdev: &NetDevice) {
        let active = PortState::of(netdev) == PortState::Active;
        if self.active.xchg(active, Relaxed) && !active {
            self.counters.link_downed.increment();
        }
        if let Some(handle) = self.handle() {
            let _ = handle.with_registered(|device| device.port_state_changed(netdev));
        }
    }
}

/// `rdma link add NAME type oxe netdev DEV`.
pub(crate) struct OxeLinks;

impl LinkDriver for OxeLinks {
    const TYPE: &'static CStr = c"oxe";

    fn new_link(name: &CStr, netdev: &NetDevice) -> Result {
        Link::add(STATE.get().ok_or(ENODEV)?, name, netdev)
    }
}
