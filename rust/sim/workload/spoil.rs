// SPDX-License-Identifier: GPL-2.0

//! Makes requests wrong.

use super::{
    Application,
    Targets,
    NO_KEY, //
};
use crate::work::{
    Outlook,
    Posted, //
};
use oxe_proto::{
    transport::{
        error::WcStatus,
        wr::SendOp, //
    },
    types::{
        Qkey,
        Rkey, //
    },
    wire::packet::Service, //
};

impl Application {
    /// Makes a request one that the peer must refuse, or nobody must hear.
    pub(super) fn spoil(&mut self, posted: &mut Posted, targets: &Targets) {
        let reliable = matches!(targets.service, Service::Rc | Service::Xrc);
        let refused = if reliable {
            Outlook::Refused(WcStatus::RemoteAccess)
        } else {
            Outlook::Unheard
        };
        let empty = posted.wr.length == 0;
        let way = self.rng.below(3);
        match &mut posted.wr.op {
            SendOp::Write { address, rkey, .. } if !empty => {
                match way {
                    0 => *rkey = Rkey(NO_KEY),
                    1 => *address = targets.target.base + u64::from(targets.target.length) - 1,
                    _ => {
                        *rkey = Rkey(targets.source.key);
                        *address = targets.source.base;
                    }
                }
                if way == 1 && posted.wr.length == 1 {
                    return;
                }
                posted.outlook = refused;
            }
            SendOp::Read { address, rkey } if !empty => {
                match way {
                    0 => *rkey = Rkey(NO_KEY),
                    1 => *address = address.wrapping_sub(u64::from(targets.target.length) + 8),
                    _ => {
                        *rkey = Rkey(targets.forbidden.key);
                        *address = targets.forbidden.base;
                    }
                }
                posted.outlook = refused;
            }
            SendOp::CompareSwap(atomic) | SendOp::FetchAdd(atomic) => match way {
                0 => {
                    atomic.rkey = Rkey(NO_KEY);
                    posted.outlook = refused;
                }
                1 => {
                    atomic.rkey = Rkey(targets.source.key);
                    atomic.address = targets.source.base.next_multiple_of(8);
                    posted.outlook = refused;
                }
                _ => {
                    atomic.address += 1 + self.rng.below(7);
                    posted.outlook = Outlook::Refused(WcStatus::RemoteInvalidRequest);
                }
            },
            SendOp::Datagram { qkey, .. } => {
                if way == 0 {
                    posted.wr.length = targets.mtu.bytes() + 1;
                    posted.outlook = Outlook::Fails(WcStatus::LocalLength);
                } else {
                    *qkey = Qkey(targets.qkey.0 ^ 1);
                    posted.outlook = Outlook::Unheard;
                }
            }
            _ => (),
        }
    }
}
