// SPDX-License-Identifier: GPL-2.0

//! Unreliable connections: a message that loses a packet is lost as a whole (IBTA 9.8.3).

use super::{
    Message,
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
        Op,
        Packet, //
    },
};
use core::ops::DerefMut;

impl<R: DerefMut<Target = [Resource]>> Responder<R> {
    /// A packet came.
    pub(in crate::transport) fn handle_unreliable<E: Env>(
        &mut self,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) {
        let starts = matches!(
            packet.op,
            Op::SendFirst | Op::SendOnly(_) | Op::WriteFirst(_) | Op::WriteOnly(..)
        );
        let idle = matches!(self.message, Message::Idle);
        if !idle && (starts || packet.psn != self.expected) {
            self.drop_message(env, context);
        }
        if !starts && matches!(self.message, Message::Idle) {
            // The rest of what was dropped.
            return;
        }
        // A message may start at any number: what lies between is lost.
        self.expected = packet.psn.next();
        match self.execute(packet, data, env, context) {
            Ok(_) => self.served = true,
            Err(Refusal::NotReady) => {
                context.observe(env, Observation::NoReceive);
                self.message = Message::Idle;
            }
            Err(Refusal::Receive(status)) => {
                self.end_receive(status, env);
                self.message = Message::Idle;
                self.failure = Some(Event::Failed);
            }
            Err(_) => self.drop_message(env, context),
        }
    }

    /// Its receive request is used for the next one.
    fn drop_message<E: Env>(&mut self, env: &mut E, context: &Context) {
        context.observe(env, Observation::MessageDropped);
        self.message = Message::Idle;
    }
}
