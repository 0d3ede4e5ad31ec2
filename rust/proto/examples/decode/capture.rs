// SPDX-License-Identifier: GPL-2.0

//! The IP packets of a capture: classic pcap and pcapng.

use pcap_parser::{
    parse_pcap_frame,
    parse_pcap_frame_be,
    parse_pcap_header,
    Block,
    Linktype,
    PcapBlockOwned,
    PcapNGSlice, //
};

/// A captured frame.
pub(crate) struct Frame<'a> {
    /// The kind of its link.
    link: Linktype,
    /// What was captured of it.
    data: &'a [u8],
    /// Its length in bytes.
    length: usize,
}

/// An IP packet out of a frame.
pub(crate) struct IpPacket {
    /// The packet, filled up with zeros where the capture cut it off.
    pub(crate) bytes: Vec<u8>,
    /// Whether it was cut off.
    pub(crate) cut: bool,
}

/// Whether `input` is a capture of a kind known here.
pub(crate) fn is_capture(input: &[u8]) -> bool {
    is_pcapng(input) || parse_pcap_header(input).is_ok()
}

fn is_pcapng(input: &[u8]) -> bool {
    input.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a])
}

/// The frames of a capture, in order, and why it ends early if it does.
pub(crate) fn frames(input: &[u8]) -> (Vec<Frame<'_>>, Option<String>) {
    let mut frames = Vec::new();
    let result = if is_pcapng(input) {
        read_pcapng(input, &mut frames)
    } else {
        read_pcap(input, &mut frames)
    };
    (frames, result.err())
}

fn damaged<E>(_: E) -> String {
    "the capture is damaged or ends in the middle of a packet".to_owned()
}

fn read_pcap<'a>(input: &'a [u8], frames: &mut Vec<Frame<'a>>) -> Result<(), String> {
    let (mut rest, header) = parse_pcap_header(input).map_err(damaged)?;
    while !rest.is_empty() {
        let record = if header.is_bigendian() {
            parse_pcap_frame_be(rest)
        } else {
            parse_pcap_frame(rest)
        };
        let (left, record) = record.map_err(damaged)?;
        frames.push(Frame {
            link: header.network,
            data: record.data,
            length: record.origlen as usize,
        });
        rest = left;
    }
    Ok(())
}

fn read_pcapng<'a>(input: &'a [u8], frames: &mut Vec<Frame<'a>>) -> Result<(), String> {
    let mut links = Vec::new();
    for block in PcapNGSlice::from_slice(input).map_err(damaged)? {
        let PcapBlockOwned::NG(block) = block.map_err(damaged)? else {
            continue;
        };
        match block {
            // Interfaces are numbered in each section anew.
            Block::SectionHeader(_) => links.clear(),
            Block::InterfaceDescription(interface) => links.push(interface.linktype),
            Block::EnhancedPacket(packet) => frames.push(Frame {
                link: link(&links, packet.if_id as usize)?,
                // The block's padding follows what was captured.
                data: &packet.data[..packet.data.len().min(packet.caplen as usize)],
                length: packet.origlen as usize,
            }),
            Block::SimplePacket(packet) => {
                let length = packet.origlen as usize;
                frames.push(Frame {
                    link: link(&links, 0)?,
                    data: &packet.data[..packet.data.len().min(length)],
                    length,
                });
            }
            _ => (),
        }
    }
    Ok(())
}

fn link(links: &[Linktype], number: usize) -> Result<Linktype, String> {
    let link = links.get(number).copied();
    link.ok_or(format!("the capture does not describe interface {number}"))
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Tags of virtual networks: 802.1Q, 802.1ad and what came before that.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

impl Frame<'_> {
    /// The IP packet in the frame; nothing if there is something else.
    pub(crate) fn ip_packet(&self) -> Option<IpPacket> {
        let data = match self.link {
            Linktype::ETHERNET => behind_tags(field(self.data, 12)?, self.data.get(14..)?)?,
            Linktype::LINUX_SLL => behind_tags(field(self.data, 14)?, self.data.get(16..)?)?,
            Linktype::LINUX_SLL2 => behind_tags(field(self.data, 0)?, self.data.get(20..)?)?,
            Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => self.data,
            // Raw IP, as some systems number it.
            Linktype(12 | 14) => self.data,
            _ => return None,
        };
        let missing = self.length.saturating_sub(self.data.len());
        let mut bytes = data.to_vec();
        bytes.resize(data.len() + missing.min(usize::from(u16::MAX)), 0);
        Some(IpPacket {
            bytes,
            cut: missing != 0,
        })
    }
}

/// The 16 bits at `offset`.
fn field(bytes: &[u8], offset: usize) -> Option<u16> {
    let bytes = bytes.get(offset..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

/// What is behind the tags of virtual networks, if it is IP.
fn behind_tags(mut kind: u16, mut rest: &[u8]) -> Option<&[u8]> {
    while TAGS.contains(&kind) {
        kind = field(rest, 2)?;
        rest = rest.get(4..)?;
    }
    matches!(kind, IPV4 | IPV6).then_some(rest)
}
