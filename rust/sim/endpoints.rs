// SPDX-License-Identifier: GPL-2.0

//! Makes endpoints of each kind.

mod oxe;

use crate::{
    endpoint::Endpoint,
    peers::{
        connectx,
        gobackn, //
    },
    scenario::EndpointKind, //
};
use oxe_proto::transport::attributes::Config;

/// An endpoint in RESET, with so many slots of a send queue and resources for so many READs and
/// atomics of the peer.
pub fn make(kind: EndpointKind, config: Config, slots: u32, resources: u8) -> Box<dyn Endpoint> {
    match kind {
        EndpointKind::Oxe => oxe::make(config, slots, resources),
        EndpointKind::GoBackN => gobackn::make(config, slots),
        EndpointKind::ConnectX => connectx::make(config, slots),
    }
}
