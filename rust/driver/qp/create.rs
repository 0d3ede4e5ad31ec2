// SPDX-License-Identifier: GPL-2.0

//! How a queue pair comes and goes.

use super::{
    early::Early,
    transmit::Run,
    Inner,
    Kernel,
    KernelMemory,
    Note,
    Notices,
    Qp,
    Receives,
    RecvPosts,
    SendPosts,
    Sends,
    Side, //
};
use crate::{
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
        QpEvents,
        QpInit,
        QpReference,
        QpType as VerbsType,
        User, //
    },
    sync::{
        new_spinlock_bh,
        Timer, //
    },
    workqueue::flush, //
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
    pub(super) pd: PdId,
    pub(super) queue: SendQueue,
    /// How completions of the kernel's name it.
    pub(super) reference: Option<QpReference>,
}

/// READs and atomics that the responder can keep: as many as a device announces.
const RESOURCES: usize = limits::MAX_RD_ATOMIC as usize;

/// `count` of something, in memory of its own.
fn filled<T: Clone>(value: T, count: usize) -> Result<KVVec<T>> {
    Ok(KVVec::from_elem(value, count, GFP_KERNEL_ACCOUNT)?)
}

/// As `filled`, of what cannot be cloned.
fn made<T>(count: usize, mut make: impl FnMut() -> T) -> Result<KVVec<T>> {
    let mut all = KVVec::with_capacity(count, GFP_KERNEL_ACCOUNT)?;
    for _ in 0..count {
        all.push(make(), GFP_KERNEL_ACCOUNT)?;
    }
    Ok(all)
}

/// The queues of a queue pair, before there is one.
struct Queues {
    sends: Sends,
    receives: Receives,
    /// Send requests that the engine is to keep.
    slots: usize,
    caps: QpCaps,
    kernel: Option<Kernel>,
}

impl Queues {
    /// Those of a process, which is told where they are.
    fn shared(user: &User<'_>, caps: &QpCaps) -> Result<Self> {
        if user.input_len() != 0 {
            return Err(EINVAL);
        }
        let room = send::Room::new(caps.max_send_sge, caps.max_inline_data).ok_or(EINVAL)?;
        let recv_bytes = recv::element_bytes(caps.max_recv_sge).ok_or(EINVAL)?;
        let sends = Inbox::new(user, caps.max_send_wr.max(1), room.element_bytes())?;
        let receives = Inbox::new(user, caps.max_recv_wr.max(1), recv_bytes)?;
        let response = QueuePair {
            receive: receives.info(),
            send: sends.info(),
        };
        user.respond(&response.to_bytes())?;
        Ok(Self {
            slots: (sends.capacity() as usize).saturating_add(1),
            caps: QpCaps {
                max_send_wr: sends.capacity(),
                max_recv_wr: receives.capacity(),
                max_send_sge: room.sges(),
                max_recv_sge: caps.max_recv_sge,
                max_inline_data: room.inline_bytes(),
            },
            sends: Sends::Shared(sends),
            receives: Receives::Shared(receives),
            kernel: None,
        })
    }

    /// Those of the kernel.
    fn posted(caps: &QpCaps) -> Result<Self> {
        let caps = QpCaps {
            max_send_wr: caps.max_send_wr.max(1),
            max_recv_wr: caps.max_recv_wr.max(1),
            ..*caps
        };
        // One more than was asked for: who drains a queue that is full posts one more.
        let sends = SendPosts::new(
            caps.max_send_wr.saturating_add(1),
            caps.max_send_sge as usize,
            caps.max_inline_data as usize,
        )?;
        let receives = RecvPosts::new(
            caps.max_recv_wr.saturating_add(1),
            caps.max_recv_sge as usize,
        )?;
        Ok(Self {
            sends: Sends::Posted(sends.clone()),
            receives: Receives::Posted(receives.clone()),
            slots: (caps.max_send_wr as usize)
                .saturating_add(1)
                .next_power_of_two(),
            caps,
            kernel: Some(Kernel { sends, receives }),
        })
    }
}

impl Side {
    /// The side of a queue pair that is to be; its number is not known yet.
    fn new(
        link: &Arc<Link>,
        pd: PdId,
        qp_type: QpType,
        queues: Queues,
        init: &QpInit<'_, OxeDevice>,
    ) -> Result<Self> {
        let (slots, caps) = (queues.slots, queues.caps);
        let is_kernel = matches!(queues.sends, Sends::Posted(_));
        let list_stride = caps.max_send_sge as usize;
        let inline_stride = caps.max_inline_data as usize;
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
                all_signalled: init.all_signalled,
            },
            send_cq: init.send_cq.clone(),
            recv_cq: init.recv_cq.clone(),
            notes: made(slots, Note::default)?,
            lists: filled(Sge::default(), lists)?,
            list_stride,
            inline: filled(0, inline)?,
            inline_stride,
            current: None,
            current_list: filled(Sge::default(), caps.max_recv_sge.max(1) as usize)?,
            early: Early::new(link, qp_type == QpType::Rc)?,
            path: None,
            full_since: None,
            ip_id: 1,
            run: Run::new()?,
            notices: Notices::default(),
            sends: queues.sends,
            receives: queues.receives,
            reference: is_kernel.then_some(init.reference),
        })
    }

    /// Forgets what was posted (RESET).
    pub(super) fn forget(&mut self) {
        if let Sends::Shared(ring) = &mut self.sends {
            ring.discard();
        }
        if let Receives::Shared(ring) = &mut self.receives {
            ring.discard();
        }
        self.current = None;
        self.early.clear();
        self.path = None;
        self.notes
            .iter_mut()
            .for_each(|note| *note = Note::default());
    }
}

impl Qp {
    /// Makes a queue pair for a process or the kernel. Context: process.
    pub(crate) fn new(
        link: &Arc<Link>,
        pd: PdId,
        init: QpInit<'_, OxeDevice>,
    ) -> Result<Arc<Self>> {
        if init.create_flags != 0 {
            return Err(EINVAL);
        }
        let qp_type = match init.qp_type {
            VerbsType::Rc => QpType::Rc,
            VerbsType::Uc => QpType::Uc,
            VerbsType::Ud => QpType::Ud,
            VerbsType::Gsi if init.user.is_none() => QpType::Gsi,
            VerbsType::Gsi => return Err(EINVAL),
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
        let mut queues = match &init.user {
            Some(user) => Queues::shared(user, caps)?,
            None => Queues::posted(caps)?,
        };
        let (caps, kernel) = (queues.caps, queues.kernel.take());
        let side = Side::new(link, pd, qp_type, queues, &init)?;
        link.objects.qps.take()?;
        let make = |number| Self::make(number, side, caps, kernel, init.events);
        let made = if qp_type == QpType::Gsi {
            make(Qpn::GSI.get()).and_then(|qp| {
                let number = qp.qpn.get() as usize;
                link.objects.special_qps.insert(number, qp.clone())?;
                Ok(qp)
            })
        } else {
            link.qps().insert_with(make)
        };
        if made.is_err() {
            link.objects.qps.give_back();
        }
        made
    }

    /// Puts one together that is to be found by `number`.
    fn make(
        number: u32,
        mut side: Side,
        caps: QpCaps,
        kernel: Option<Kernel>,
        events: Arc<QpEvents>,
    ) -> Result<Arc<Self>> {
        let (qpn, qp_type) = (Qpn::from_low_bits(number), side.queue.qp_type);
        let slots = filled(SendSlot::default(), side.notes.len())?;
        let mut resources = KVVec::new();
        if qp_type == QpType::Rc {
            resources = filled(Resource::default(), RESOURCES)?;
        }
        let mut config = Config::new(qp_type, qpn);
        config.port_mtu = side.link.active_mtu();
        side.qpn = qpn;
        let engine = Engine::<KernelMemory>::new(config, slots, resources).ok_or(EINVAL)?;
        Arc::pin_init(
            pin_init!(Self {
                qpn,
                link: side.link.clone(),
                send_cq: side.send_cq.clone(),
                recv_cq: side.recv_cq.clone(),
                events,
                created: Created {
                    caps,
                    pd: side.pd,
                    queue: side.queue,
                    reference: side.reference,
                },
                kernel,
                inner <- new_spinlock_bh!(
                    Inner { engine, side, starved: false, dead: false },
                    "oxe::Qp::inner"
                ),
                untold: Atomic::new(0),
                work <- new_work!("oxe::Qp::work"),
                timer <- Timer::new(),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// What it has room for.
    pub(crate) fn caps(&self) -> QpCaps {
        self.created.caps
    }

    /// Ends it: nothing is completed or told any more. Context: process; not from a handler of the
    /// queue pair's own.
    pub(crate) fn destroy(&self) {
        // Packets do not find it any more.
        let number = self.qpn.get();
        drop(if self.qpn == Qpn::GSI {
            self.link.objects.special_qps.remove(number as usize, self)
        } else {
            self.link.qps().remove(number, self)
        });
        let mappings;
        {
            let mut inner = self.inner.lock();
            inner.dead = true;
            inner.side.early.clear();
            let side = &mut inner.side;
            mappings = [side.sends.take_mapping(), side.receives.take_mapping()];
        }
        drop(mappings);
        if let (Some(kernel), Some(reference)) = (&self.kernel, self.created.reference) {
            kernel.close();
            self.send_cq.forget(reference);
            self.recv_cq.forget(reference);
        }
        // Work that is queued sees that it is dead.
        self.timer.shut_down();
        if self.kernel.is_some() {
            // The work item may still have to tell a completion queue; ib_core frees the kernel's
            // ones with no regard to a notice under way. It is not skipped, for it may be owed to
            // another queue pair.
            flush(&self.work);
        }
        self.link.objects.qps.give_back();
    }
}
