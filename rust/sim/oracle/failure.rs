// SPDX-License-Identifier: GPL-2.0

//! Which failures have a reason.

use super::{
    flow::Flow,
    Oracle,
    Phase, //
};
use crate::work::Outlook;
use oxe_proto::{
    transport::{
        error::{
            status_of_nak,
            WcStatus, //
        },
        wr::SendOp, //
    },
    wire::aeth::NakCode, //
};

impl Oracle {
    /// What is wrong with a request's end, if anything is.
    pub(super) fn check_failure(
        &mut self,
        qp: usize,
        flow: usize,
        index: usize,
        status: WcStatus,
    ) -> Option<String> {
        let has_reason = self.has_reason(qp);
        let end = &self.ends[qp];
        let flow = &self.flows[flow];
        if let Some((first, failed)) = flow.failed {
            return (status != WcStatus::Flushed)
                .then(|| format!("after message {first} had failed with {failed:?}"));
        }
        let posted = &flow.messages[index].posted;
        let local = flow
            .local_faults
            .iter()
            .any(|(id, expected)| *expected == status && *id == posted.id);
        match status {
            WcStatus::Success => None,
            WcStatus::Flushed => {
                (!has_reason && end.state != Phase::Error).then(|| "nothing had failed".into())
            }
            WcStatus::RetryExceeded => {
                let needed = u64::from(flow.plan.attributes.retry_cnt);
                let enough = flow.peer_lost
                    || !end.strict
                    || flow.disturbances >= needed
                    || flow.is_in_vain(index);
                (!enough).then(|| {
                    let losses = flow.disturbances;
                    format!("{losses} losses since the last progress, {needed} retries")
                })
            }
            WcStatus::RnrRetryExceeded => {
                let needed = u32::from(flow.plan.attributes.rnr_retry) + 1;
                let ever = flow.plan.attributes.rnr_retry == 7;
                (ever || flow.rnr_arrived.max(flow.rnr_before) < needed)
                    .then(|| format!("after {} receiver-not-ready answers", flow.rnr_arrived))
            }
            _ if local => None,
            WcStatus::RemoteInvalidRequest | WcStatus::RemoteAccess | WcStatus::RemoteOperation => {
                match flow.refusal {
                    Some(refusal)
                        if status_of_nak(refusal.code) == Some(status)
                            && (refusal.message == index) =>
                    {
                        None
                    }
                    other => Some(format!("the responder's refusal: {other:?}")),
                }
            }
            _ => Some("no reason".into()),
        }
    }

    /// What is wrong with a responder that refuses a message for good.
    pub(super) fn check_refusal(&self, flow: &Flow, index: usize, code: NakCode) -> Option<String> {
        let message = &flow.messages[index];
        let earlier_read = index < flow.cursor
            && matches!(message.posted.wr.op, SendOp::Read { .. })
            && !(index < flow.completed && flow.failed.is_none());
        if index != flow.cursor && !earlier_read {
            return Some(format!("the responder is at message {}", flow.cursor));
        }
        if message.executed && !earlier_read {
            return Some("it was done".into());
        }
        let expected = match message.posted.outlook {
            Outlook::Refused(status) => status_of_nak(code) == Some(status),
            _ => false,
        };
        let region_lost = code == NakCode::RemoteAccess && self.touches_lost_region(flow, index);
        let fault = flow.responder_faults.contains(&code);
        let too_long = code == NakCode::InvalidRequest && flow.too_long == Some(index);
        (!(expected || region_lost || fault || too_long)).then(|| {
            format!(
                "{:?} is to end with {:?}",
                message.posted.wr.op, message.posted.outlook
            )
        })
    }

    fn touches_lost_region(&self, flow: &Flow, index: usize) -> bool {
        let key = match flow.messages[index].posted.wr.op {
            SendOp::Write { rkey, .. }
            | SendOp::Read { rkey, .. }
            | SendOp::Flush { rkey, .. }
            | SendOp::AtomicWrite { rkey, .. } => rkey,
            SendOp::CompareSwap(atomic) | SendOp::FetchAdd(atomic) => atomic.rkey,
            _ => return false,
        };
        let host = flow.plan.to.map(|to| self.hosts[to]);
        host.and_then(|host| self.images.get(&(host, key.0)))
            .is_some_and(|image| image.lost)
    }
}

impl Flow {
    /// Whether a request's answer will not come any more, and there is no need to try often: its
    /// responder has refused a later one and failed.
    fn is_in_vain(&self, index: usize) -> bool {
        let later = self.refusal.is_some_and(|refusal| refusal.message > index);
        later && self.messages[index].posted.wants_response()
    }
}
