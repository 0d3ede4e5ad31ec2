// SPDX-License-Identifier: GPL-2.0

//! Network devices, namespaces, routes, packets and UDP tunnels.

mod namespace;
mod netdev;
mod notifier;
mod route;
mod route_cache;
mod rtnl;
mod skbuff;
mod transmit;
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
pub use route::{
    Flow,
    FlowV4,
    FlowV6,
    Route, //
};
pub use route_cache::{
    CachedRoute,
    RouteCache,
    RouteCaches, //
};
pub use rtnl::RtnlGuard;
pub use skbuff::SkBuff;
pub use transmit::{
    Sent,
    TxBuffer,
    MAX_PAYLOAD_BYTES,
    V4_HEADER_BYTES,
    V6_HEADER_BYTES, //
};
pub use udp_tunnel::{
    Family,
    Receiver,
    UdpTunnel, //
};
