// SPDX-License-Identifier: GPL-2.0

//! What happens to network devices, as far as it concerns their RDMA devices.
//!
//! ib_core follows addresses (the GID table) by itself. It does not find our devices by their
//! network devices, by choice (`docs/architecture.md`, "Two drivers, one identity"), so the port's
//! state is reported from here.

use crate::state::State;
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::{
    net::{
        Event,
        EventHandler,
        NetDevice, //
    },
    rdma::Mtu, //
};

/// Passes events on to the links.
pub(crate) struct NetdevEvents(Arc<State>);

impl NetdevEvents {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self(state)
    }
}

impl EventHandler for NetdevEvents {
    fn event(&self, event: Event, netdev: &NetDevice) {
        let Some(link) = self.0.find(netdev) else {
            return;
        };
        match event {
            Event::Unregister => link.netdev_gone(netdev),
            Event::LinkState => link.update_port_state(netdev),
            // The port's MTU is that of the network device whenever it is asked for. An MTU too
            // small for any packet is worth a word.
            Event::Mtu if Mtu::of(netdev).is_none() => {
                pr_warn!(
                    "{}: an MTU of {} is too small for RoCEv2\n",
                    netdev.name(),
                    netdev.mtu()
                );
            }
            Event::Mtu => {}
        }
    }
}
