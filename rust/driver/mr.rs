// SPDX-License-Identifier: GPL-2.0

//! Memory regions: which bytes a key stands for. The rules are the protocol's
//! (`oxe_proto::memory`); here are the pages.
//!
//! Context of all access: process or softirq, under RCU: a region that is found stays until the
//! caller's critical section ends.

use crate::{
    link::Link,
    memory::Memory, //
};
use kernel::{
    prelude::*,
    sync::{
        rcu,
        Arc,
        ArcBorrow, //
    }, //
};
use kernel_ext::{
    random::random_u32,
    rdma::{
        Access,
        DirectMemory,
        Keys,
        UserRegion, //
    }, //
};
use oxe_proto::{
    memory::{
        Claim,
        Key,
        KeyIndex,
        PdId,
        Place,
        QpId,
        Region,
        RemoteUse,
        Rights, //
    },
    transport::error::Fault,
    types::Rkey,
    wire::flush::Feth, //
};

/// A region of a process's memory, or all of the kernel's.
pub(crate) struct Mr {
    link: Arc<Link>,
    region: Region,
    memory: Memory,
}

impl Mr {
    /// Registers pinned memory. Context: process.
    pub(crate) fn register(link: &Arc<Link>, pd: PdId, memory: UserRegion) -> Result<Arc<Self>> {
        let UserRegion {
            umem,
            length,
            iova,
            access,
            ..
        } = memory;
        let rights = rights(access);
        Self::add(link, Memory::Pinned(umem), |key| {
            Region::user(key, pd, rights, iova, length).map_err(|_| EINVAL)
        })
    }

    /// All of the kernel's memory, for the lists of its users in the domain `pd`. Peers get at
    /// nothing by it: a wrong address of theirs would be the kernel's end. Context: process.
    pub(crate) fn all(
        link: &Arc<Link>,
        pd: PdId,
        memory: DirectMemory,
        access: Access,
    ) -> Result<Arc<Self>> {
        if rights(access).common(Rights::REMOTE) != Rights::NONE {
            return Err(EOPNOTSUPP);
        }
        Self::add(link, Memory::Direct(memory), |key| {
            Ok(Region::dma(key, pd, Rights::NONE))
        })
    }

    fn add(
        link: &Arc<Link>,
        memory: Memory,
        region: impl FnOnce(Key) -> Result<Region>,
    ) -> Result<Arc<Self>> {
        link.objects.mr_count.take()?;
        let made = link.objects.mrs.insert_with(move |number| {
            let index = KeyIndex::new(number).ok_or(EINVAL)?;
            // Who has not been told the key shall not guess it.
            let variant = random_u32() as u8;
            let mr = Self {
                link: link.clone(),
                region: region(Key::new(index, variant))?,
                memory,
            };
            Ok(Arc::new(mr, GFP_KERNEL_ACCOUNT)?)
        });
        if made.is_err() {
            link.objects.mr_count.give_back();
        }
        made
    }

    /// Its keys. There is one for local and remote use.
    pub(crate) fn keys(&self) -> Keys {
        let key = self.region.key().get();
        Keys {
            lkey: key,
            rkey: key,
        }
    }

    /// Ends its use, and waits until nobody uses it. Context: process.
    pub(crate) fn unlink(&self) {
        let number = self.region.key().index().get();
        if let Some(unlinked) = self.link.objects.mrs.remove(number, self) {
            drop(unlinked);
            self.link.objects.mr_count.give_back();
        }
    }
}

/// The rights that flags stand for.
fn rights(access: Access) -> Rights {
    [
        (access.local_write, Rights::LOCAL_WRITE),
        (access.remote_write, Rights::REMOTE_WRITE),
        (access.remote_read, Rights::REMOTE_READ),
        (access.remote_atomic, Rights::REMOTE_ATOMIC),
        (access.mw_bind, Rights::BIND),
        (access.flush_global, Rights::FLUSH_GLOBAL),
        (access.flush_persistent, Rights::FLUSH_PERSISTENT),
    ]
    .into_iter()
    .filter(|(wanted, _)| *wanted)
    .fold(Rights::NONE, |rights, (_, right)| rights.with(right))
}

/// What a peer may do with memory, by a key that it names.
pub(crate) struct Remote<'a> {
    pub(crate) link: &'a Link,
    pub(crate) pd: PdId,
    pub(crate) qp: QpId,
}

impl Remote<'_> {
    fn claim(&self, rkey: Rkey) -> Result<Claim, Fault> {
        Ok(Claim {
            key: Key::from_rkey(rkey).ok_or(Fault::Access)?,
            pd: self.pd,
            qp: self.qp,
        })
    }

    fn find<'r>(&'r self, claim: Claim, rcu: &'r rcu::Guard) -> Result<ArcBorrow<'r, Mr>, Fault> {
        let number = claim.key.index().get();
        self.link.objects.mrs.get(number, rcu).ok_or(Fault::Access)
    }

    /// Does something with `length` bytes that may be used so.
    pub(crate) fn with<T>(
        &self,
        rkey: Rkey,
        address: u64,
        length: u64,
        using: RemoteUse,
        act: impl FnOnce(&Memory, Place) -> Result<T>,
    ) -> Result<T, Fault> {
        let rcu = rcu::read_lock();
        let claim = self.claim(rkey)?;
        let mr = self.find(claim, &rcu)?;
        let place = mr.region.check_remote(claim, address, length, using)?;
        act(&mr.memory, place).map_err(|_| Fault::Operational)
    }

    /// Checks a FLUSH. Memory that every processor sees is visible without doing anything; none of
    /// it is persistent.
    pub(crate) fn flush(
        &self,
        rkey: Rkey,
        address: u64,
        length: u32,
        feth: Feth,
    ) -> Result<(), Fault> {
        let rcu = rcu::read_lock();
        let claim = self.claim(rkey)?;
        let mr = self.find(claim, &rcu)?;
        mr.region
            .check_flush(claim, address, length.into(), feth)
            .map(|_| ())
    }
}

/// Does something with bytes of a gather or scatter list's element.
pub(crate) fn with_local<T>(
    link: &Link,
    pd: PdId,
    lkey: u32,
    address: u64,
    length: u64,
    writes: bool,
    act: impl FnOnce(&Memory, Place) -> Result<T>,
) -> Result<T, Fault> {
    let rcu = rcu::read_lock();
    let key = Key::from_raw(lkey).ok_or(Fault::Access)?;
    let mr = link
        .objects
        .mrs
        .get(key.index().get(), &rcu)
        .ok_or(Fault::Access)?;
    let place = mr.region.check_local(key, pd, address, length, writes)?;
    act(&mr.memory, place).map_err(|_| Fault::Operational)
}
