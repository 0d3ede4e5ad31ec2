// SPDX-License-Identifier: GPL-2.0

//! Network devices, namespaces, packets and UDP tunnels.

mod namespace;
mod netdev;
mod notifier;
mod rtnl;
mod skbuff;
mod udp_tunnel;

pub use namespace::{
    ExitHandler,
    ExitHook,
    Net,
    NetId,
    NetRef, //
};
pub use netdev::{
    Eui64,
    LinkType,
    NetDevice,
    NetDeviceName, //
};
pub use notifier::{
    Event,
    EventHandler,
    Notifier, //
};
pub use rtnl::RtnlGuard;
pub use skbuff::SkBuff;
pub use udp_tunnel::{
    Family,
    Receiver,
    UdpTunnel, //
};
