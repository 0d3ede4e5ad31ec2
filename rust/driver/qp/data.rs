// SPDX-License-Identifier: GPL-2.0

//! Gather and scatter lists: where a request's bytes lie.

use crate::{
    datagrams::Part,
    link::Link,
    mr, //
};
use kernel_ext::{
    fill::Filler,
    net::SkBuff, //
};
use oxe_proto::{
    memory::PdId,
    transport::error::Fault, //
};
use oxe_uabi::sge::Sge;

/// Bytes of a received packet's data.
#[derive(Clone, Copy)]
pub(crate) struct Data<'d> {
    pub(crate) skb: &'d SkBuff,
    pub(crate) offset: usize,
    pub(crate) length: u32,
    /// The VLAN that it came by.
    pub(crate) vlan: Option<u16>,
    /// Which of several datagrams it is.
    pub(crate) part: Option<Part>,
}

/// Calls `act` for each piece of a list that holds some of the `length` bytes from `offset` on:
/// with the list's element, cut to the piece, and how many bytes of the whole come before it.
fn each(
    list: &[Sge],
    offset: u32,
    length: u32,
    mut act: impl FnMut(Sge, u32) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut skip, mut done) = (offset, 0);
    for sge in list {
        if done == length {
            return Ok(());
        }
        if skip >= sge.length {
            skip = skip.wrapping_sub(sge.length);
            continue;
        }
        let piece = Sge {
            addr: sge.addr.wrapping_add(u64::from(skip)),
            length: sge.length.wrapping_sub(skip).min(length.wrapping_sub(done)),
            lkey: sge.lkey,
        };
        skip = 0;
        act(piece, done)?;
        done = done.saturating_add(piece.length);
    }
    if done == length {
        Ok(())
    } else {
        Err(Fault::Access)
    }
}

/// Copies `length` bytes of a list out.
pub(super) fn gather(
    link: &Link,
    pd: PdId,
    list: &[Sge],
    offset: u32,
    length: u32,
    to: &mut Filler<'_>,
) -> Result<(), Fault> {
    each(list, offset, length, |sge, _| {
        let length = u64::from(sge.length);
        mr::with_local(
            link,
            pd,
            sge.lkey,
            sge.addr,
            length,
            false,
            |memory, place| memory.read(place.offset, sge.length as usize, to),
        )
    })
}

/// Copies a packet's data into a list.
pub(super) fn scatter(
    link: &Link,
    pd: PdId,
    list: &[Sge],
    offset: u32,
    data: Data<'_>,
) -> Result<(), Fault> {
    each(list, offset, data.length, |sge, before| {
        let (at, length) = (data.offset.saturating_add(before as usize), sge.length);
        mr::with_local(
            link,
            pd,
            sge.lkey,
            sge.addr,
            length.into(),
            true,
            |memory, place| memory.copy_from_skb(place.offset, data.skb, at, length as usize),
        )
    })
}

/// Copies bytes into a list.
pub(super) fn put(
    link: &Link,
    pd: PdId,
    list: &[Sge],
    offset: u32,
    from: &[u8],
) -> Result<(), Fault> {
    each(list, offset, from.len() as u32, |sge, before| {
        let (start, end) = (before as usize, before.saturating_add(sge.length) as usize);
        let from = from.get(start..end).ok_or(Fault::Access)?;
        let length = u64::from(sge.length);
        mr::with_local(
            link,
            pd,
            sge.lkey,
            sge.addr,
            length,
            true,
            |memory, place| memory.write(place.offset, from),
        )
    })
}
