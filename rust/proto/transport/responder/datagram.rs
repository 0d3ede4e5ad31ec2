// SPDX-License-Identifier: GPL-2.0

//! Datagrams: one packet each, from anybody who knows the queue key (IBTA 9.8.3.1).

use super::{
    Refusal,
    Responder, //
};
use crate::{
    transport::{
        context::Context,
        ports::{
            Env,
            Observation, //
        },
        resources::Resource,
        Event, //
    },
    wire::packet::{
        Addressing,
        Op,
        Packet, //
    },
};
use core::ops::DerefMut;

/// Bytes that precede a datagram's data in its receive buffers: room for a network header.
const NETWORK_HEADER_BYTES: u32 = 40;

impl<R: DerefMut<Target = [Resource]>> Responder<R> {
    /// A packet came.
    pub(in crate::transport) fn handle_datagram<E: Env>(
        &mut self,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) {
        let (Addressing::Datagram(deth), Op::SendOnly(tail)) = (packet.addressing, packet.op)
        else {
            context.observe(env, Observation::Unexpected);
            return;
        };
        if deth.qkey != context.attributes.qkey {
            context.observe(env, Observation::BadQkey);
            return;
        }
        let capacity = match self.receive_for(packet, env, context) {
            Ok(capacity) => capacity,
            Err(Refusal::Receive(status)) => {
                self.end_receive(status, env);
                self.failure = Some(Event::Failed);
                return;
            }
            Err(_) => {
                context.observe(env, Observation::NoReceive);
                return;
            }
        };
        let bytes = packet.data_bytes;
        let total = bytes.saturating_add(NETWORK_HEADER_BYTES);
        if total > capacity {
            // The receive request waits for one that fits.
            context.observe(env, Observation::MessageDropped);
            return;
        }
        let mut placed = env.place_network_header();
        if placed.is_ok() && bytes != 0 {
            placed = env.place_receive(NETWORK_HEADER_BYTES, data);
        }
        match placed {
            Ok(()) => self.complete_datagram(packet, tail, total, deth.source_qp, env),
            Err(fault) => match fault.local() {
                Some(status) => {
                    self.end_receive(status, env);
                    self.failure = Some(Event::Failed);
                }
                None => context.observe(env, Observation::MessageDropped),
            },
        }
    }
}
