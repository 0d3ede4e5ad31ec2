// SPDX-License-Identifier: GPL-2.0

//! How a queue pair comes and goes.

use super::{
    Inner,
    KernelMemory,
    Note,
    Notices,
    Qp,
    Side, //
};
use crate::{
    cq::Cq,
    device::OxeDevice,
    limits,
    link::Link,
    ring::Inbox, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::Atomic,
        Arc, //
    },
    workqueue::new_work, //
};
use kernel_ext::{
    rdma::{
        QpCaps,
        QpInit,
        QpType as VerbsType,
        User, //
    },
    sync::{
        new_spinlock_bh,
        Timer, //
    }, //
};
use oxe_proto::{
    memory::{
        PdId,
        QpId, //
    },
    transport::{
        attributes::Config,
        state::QpType,
        Engine,
        Resource,
        SendSlot, //
    },
    types::Qpn, //
};
use oxe_uabi::{
    recv,
    responses::QueuePair,
    send::{
        self,
        SendQueue, //
    },
    sge::Sge, //
};

/// What a queue pair was made as.
pub(super) struct Created {
    pub(super) caps: QpCaps,
    pub(super) all_signalled: bool,
}

/// READs and atomics that the responder can keep: as many as a device announces.
const RESOURCES: usize = limits::MAX_RD_ATOMIC as usize;

/// `count` of something, in memory of its own.
fn filled<T: Clone>(value: T, count: usize) -> Result<KVVec<T>> {
    Ok(KVVec::from_elem(value, count, GFP_KERNEL)?)
}

/// As `filled`, of what cannot be cloned.
fn made<T>(count: usize, mut make: impl FnMut() -> T) -> Result<KVVec<T>> {
    let mut all = KVVec::with_capacity(count, GFP_KERNEL)?;
    for _ in 0..count {
        all.push(make(), GFP_KERNEL)?;
    }
    Ok(all)
}

impl Side {
    /// The queues of a process's queue pair; its number is not known yet.
    #[expect(clippy::too_many_arguments, reason = "each is one field")]
    fn new(
        link: &Arc<Link>,
        user: &User<'_>,
        qp_type: QpType,
        caps: &QpCaps,
        all_signalled: bool,
        pd: PdId,
        send_cq: &Arc<Cq>,
        recv_cq: &Arc<Cq>,
    ) -> Result<Self> {
        let room = send::Room::new(caps.max_send_sge, caps.max_inline_data).ok_or(EINVAL)?;
        let recv_bytes = recv::element_bytes(caps.max_recv_sge).ok_or(EINVAL)?;
        let send_ring = Inbox::new(user, caps.max_send_wr.max(1), room.element_bytes())?;
        let recv_ring = Inbox::new(user, caps.max_recv_wr.max(1), recv_bytes)?;
        let slots = (send_ring.capacity() as usize).saturating_add(1);
        let (list_stride, inline_stride) = (room.sges() as usize, room.inline_bytes() as usize);
        let lists = slots.checked_mul(list_stride).ok_or(ENOMEM)?;
        let inline = slots.checked_mul(inline_stride).ok_or(ENOMEM)?;
        Ok(Self {
            link: link.clone(),
            qpn: Qpn::default(),
            id: QpId(link.objects.next_id()),
            pd,
            datagram: qp_type.is_datagram(),
            queue: SendQueue {
                qp_type,
                all_signalled,
            },
            send_cq: send_cq.clone(),
            recv_cq: recv_cq.clone(),
            notes: made(slots, Note::default)?,
            lists: filled(Sge::default(), lists)?,
            list_stride,
            inline: filled(0, inline)?,
            inline_stride,
            current: None,
            current_list: filled(Sge::default(), caps.max_recv_sge.max(1) as usize)?,
            held: KVVec::new(),
            holding: false,
            path: None,
            ip_id: 1,
            notices: Notices::default(),
            send_ring,
            recv_ring,
        })
    }

    /// Forgets where packets go: routes keep a namespace from ending.
    fn forget_paths(&mut self) {
        self.path = None;
        self.notes.iter_mut().for_each(|note| note.path = None);
    }

    /// Forgets what was posted (RESET).
    pub(super) fn forget(&mut self) {
        self.send_ring.discard();
        self.recv_ring.discard();
        self.current = None;
        self.held.iter_mut().for_each(|held| *held = None);
        self.path = None;
        self.notes
            .iter_mut()
            .for_each(|note| *note = Note::default());
    }
}

impl Qp {
    /// Makes a queue pair for a process. Context: process.
    pub(crate) fn new(
        link: &Arc<Link>,
        pd: PdId,
        init: QpInit<'_, OxeDevice>,
    ) -> Result<Arc<Self>> {
        let user = init.user.ok_or(EOPNOTSUPP)?;
        if user.input_len() != 0 || init.create_flags != 0 {
            return Err(EINVAL);
        }
        let qp_type = match init.qp_type {
            VerbsType::Rc => QpType::Rc,
            VerbsType::Uc => QpType::Uc,
            VerbsType::Ud => QpType::Ud,
            VerbsType::Gsi => return Err(EOPNOTSUPP),
        };
        let caps = &init.caps;
        if caps.max_send_wr > limits::MAX_QP_WR
            || caps.max_recv_wr > limits::MAX_QP_WR
            || caps.max_send_sge > limits::MAX_SGE
            || caps.max_recv_sge > limits::MAX_SGE
            || caps.max_inline_data > limits::MAX_INLINE
        {
            return Err(EINVAL);
        }
        let mut side = Side::new(
            link,
            &user,
            qp_type,
            caps,
            init.all_signalled,
            pd,
            init.send_cq,
            init.recv_cq,
        )?;
        let caps = QpCaps {
            max_send_wr: side.send_ring.capacity(),
            max_recv_wr: side.recv_ring.capacity(),
            max_send_sge: side.list_stride as u32,
            max_recv_sge: caps.max_recv_sge,
            max_inline_data: side.inline_stride as u32,
        };
        let response = QueuePair {
            receive: side.recv_ring.info(),
            send: side.send_ring.info(),
        };
        user.respond(&response.to_bytes())?;
        let slots = filled(SendSlot::default(), side.notes.len())?;
        let resources = if qp_type == QpType::Rc {
            filled(Resource::default(), RESOURCES)?
        } else {
            KVVec::new()
        };
        link.objects.qps.take()?;
        let events = init.events;
        let made = link.qps().insert_with(move |number| {
            let qpn = Qpn::from_low_bits(number);
            let mut config = Config::new(qp_type, qpn);
            config.port_mtu = link.active_mtu();
            side.qpn = qpn;
            if qp_type == QpType::Rc {
                side.held = made(oxe_proto::transport::EARLY_SLOTS as usize, || None)?;
            }
            let engine = Engine::<KernelMemory>::new(config, slots, resources).ok_or(EINVAL)?;
            Arc::pin_init(
                pin_init!(Self {
                    qpn,
                    link: link.clone(),
                    send_cq: side.send_cq.clone(),
                    recv_cq: side.recv_cq.clone(),
                    events,
                    created: Created {
                        caps,
                        all_signalled: side.queue.all_signalled,
                    },
                    inner <- new_spinlock_bh!(
                        Inner { engine, side, starved: false, dead: false },
                        "oxe::Qp::inner"
                    ),
                    untold: Atomic::new(0),
                    work <- new_work!("oxe::Qp::work"),
                    timer <- Timer::new(),
                }),
                GFP_KERNEL,
            )
        });
        if made.is_err() {
            link.objects.qps.give_back();
        }
        made
    }

    /// What it has room for.
    pub(crate) fn caps(&self) -> QpCaps {
        self.created.caps
    }

    /// Ends it: nothing is completed or told any more. Context: process.
    pub(crate) fn destroy(&self) {
        // Packets do not find it any more.
        drop(self.link.qps().remove(self.qpn.get(), self));
        let mappings;
        {
            let mut inner = self.inner.lock();
            inner.dead = true;
            inner.side.held.iter_mut().for_each(|held| *held = None);
            inner.side.forget_paths();
            let side = &mut inner.side;
            mappings = [side.send_ring.take_mapping(), side.recv_ring.take_mapping()];
        }
        drop(mappings);
        // Work that is queued sees that it is dead.
        self.timer.shut_down();
        self.link.objects.qps.give_back();
    }
}
