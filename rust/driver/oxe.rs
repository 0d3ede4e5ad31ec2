// SPDX-License-Identifier: GPL-2.0

//! oxe: a software RoCEv2 device.
//!
//! This file loads and unloads the module, in an order that the fields of [`Oxe`] spell out.

#![deny(unsafe_code)]

use crate::{
    link::OxeLinks,
    namespace::NamespaceExit,
    netdev_events::NetdevEvents,
    state::{
        State,
        STATE, //
    }, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::{
    net,
    rdma,
    sync::Published, //
};

mod ah;
mod counters;
mod cq;
mod datagrams;
mod device;
mod limits;
mod link;
mod memory;
mod mr;
mod namespace;
mod netdev_events;
mod numbers;
mod objects;
mod qp;
mod quota;
mod ring;
mod rx;
mod state;
mod tx;
mod verbs;

module! {
    type: Oxe,
    name: "oxe",
    authors: ["oxe contributors"],
    description: "Software RoCEv2 device",
    license: "GPL",
    alias: ["rdma-link-oxe"],
}

/// What the module holds while it is loaded. The fields are dropped from top to bottom:
struct Oxe {
    /// No link is added any more, and none is being added.
    _link_type: Pin<KBox<rdma::link::Registration<OxeLinks>>>,
    /// All devices are unregistered, whoever did it.
    _links: AllLinks,
    /// No event of a network device comes any more.
    _netdev_events: Pin<KBox<net::Notifier<NetdevEvents>>>,
    /// No work is left: nothing could have queued any since the last two.
    _work: AllWork,
    /// No namespace calls any more; all sockets are closed.
    _namespace_exit: Pin<KBox<net::ExitHook<NamespaceExit>>>,
    /// No route is kept: the links have closed their caches, and there can be no others.
    _routes: net::RouteCaches,
    /// Nobody finds the state any more. This drops its last reference, and with it the work queue.
    _published: Published<State>,
}

/// Takes all links down when dropped.
struct AllLinks(Arc<State>);

impl Drop for AllLinks {
    fn drop(&mut self) {
        self.0.take_down_all();
    }
}

/// Waits for all work when dropped.
struct AllWork(Arc<State>);

impl Drop for AllWork {
    fn drop(&mut self) {
        // Queue pairs first: what they hold may be the last that keeps a link.
        self.0.traffic.drain();
        self.0.queue.drain();
    }
}

impl kernel::Module for Oxe {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        let state = State::new()?;
        // Where a step fails, those before it are undone in reverse, which is the order above.
        let published = STATE.publish(state.clone())?;
        let routes = net::RouteCaches::new()?;
        let namespace_exit = KBox::pin_init(net::ExitHook::new(), GFP_KERNEL)?;
        let work = AllWork(state.clone());
        let netdev_events = NetdevEvents::new(state.clone());
        let netdev_events = KBox::pin_init(net::Notifier::new(netdev_events), GFP_KERNEL)?;
        let links = AllLinks(state);
        let link_type = KBox::pin_init(rdma::link::Registration::new(), GFP_KERNEL)?;
        Ok(Self {
            _link_type: link_type,
            _links: links,
            _netdev_events: netdev_events,
            _work: work,
            _namespace_exit: namespace_exit,
            _routes: routes,
            _published: published,
        })
    }
}
