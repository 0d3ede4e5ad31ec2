// SPDX-License-Identifier: GPL-2.0

//! Address vectors: what old providers put into the send requests of datagrams, where new ones put
//! the number of an address handle.

use crate::{
    abi::{
        av as at,
        network, //
    },
    bytes::{
        get,
        get_u32,
        get_u8, //
    },
};

/// An address of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// Of IPv4.
    V4([u8; 4]),
    /// Of IPv6.
    V6([u8; 16]),
}

/// An address vector. All of it is the user's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Av {
    /// Port of the device, from 1.
    pub port: u8,
    /// Hardware address of the next hop.
    pub dmac: [u8; 6],
    /// GID of the destination.
    pub dgid: [u8; 16],
    /// Flow label; 20 bits count.
    pub flow_label: u32,
    /// Index of the source's GID.
    pub sgid_index: u8,
    /// Hop limit, or time to live.
    pub hop_limit: u8,
    /// Traffic class, or type of service.
    pub traffic_class: u8,
    /// Address of the source.
    pub source: Address,
    /// Address of the destination, of the same kind.
    pub destination: Address,
}

impl Av {
    /// Bytes of one.
    pub const BYTES: usize = at::BYTES;

    /// Reads one; none if its network is neither IPv4 nor IPv6.
    ///
    /// The network is what its type says: the provider leaves the family of IPv4 addresses at 0.
    pub fn parse(raw: &[u8; Self::BYTES]) -> Option<Self> {
        let kind = get_u8::<{ at::NETWORK }, { at::BYTES }>(raw);
        let (source, destination) = match u32::from(kind) {
            network::V4 => (
                Address::V4(get::<{ at::SOURCE_V4 }, 4, { at::BYTES }>(raw)),
                Address::V4(get::<{ at::DESTINATION_V4 }, 4, { at::BYTES }>(raw)),
            ),
            network::V6 => (
                Address::V6(get::<{ at::SOURCE_V6 }, 16, { at::BYTES }>(raw)),
                Address::V6(get::<{ at::DESTINATION_V6 }, 16, { at::BYTES }>(raw)),
            ),
            _ => return None,
        };
        Some(Self {
            port: get_u8::<{ at::PORT }, { at::BYTES }>(raw),
            dmac: get::<{ at::DMAC }, 6, { at::BYTES }>(raw),
            dgid: get::<{ at::DGID }, 16, { at::BYTES }>(raw),
            flow_label: get_u32::<{ at::FLOW_LABEL }, { at::BYTES }>(raw),
            sgid_index: get_u8::<{ at::SGID_INDEX }, { at::BYTES }>(raw),
            hop_limit: get_u8::<{ at::HOP_LIMIT }, { at::BYTES }>(raw),
            traffic_class: get_u8::<{ at::TRAFFIC_CLASS }, { at::BYTES }>(raw),
            source,
            destination,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte is its own offset, but for the network.
    fn counting(network: u8) -> [u8; Av::BYTES] {
        let mut raw = [0; Av::BYTES];
        raw.iter_mut().zip(0..).for_each(|(byte, at)| *byte = at);
        raw[1] = network;
        raw
    }

    /// Bytes from `first` on.
    fn from<const N: usize>(first: u8) -> [u8; N] {
        let all = counting(1);
        *all[usize::from(first)..].first_chunk().unwrap()
    }

    #[test]
    fn fields_of_a_vector() {
        let av = Av::parse(&counting(1)).unwrap();
        assert_eq!((av.port, av.dmac, av.dgid), (0, from(2), from(8)));
        assert_eq!(av.flow_label, u32::from_ne_bytes(from(24)));
        assert_eq!(
            (av.sgid_index, av.hop_limit, av.traffic_class),
            (28, 29, 30)
        );
        assert_eq!(av.source, Address::V4(from(36)));
        assert_eq!(av.destination, Address::V4(from(64)));

        let av = Av::parse(&counting(2)).unwrap();
        assert_eq!(av.source, Address::V6(from(40)));
        assert_eq!(av.destination, Address::V6(from(68)));
    }

    #[test]
    fn other_networks_are_none() {
        for network in (0..=u8::MAX).filter(|network| !matches!(network, 1 | 2)) {
            assert_eq!(Av::parse(&counting(network)), None);
        }
    }
}
