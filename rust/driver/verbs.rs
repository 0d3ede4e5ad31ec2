// SPDX-License-Identifier: GPL-2.0

//! What ib_core calls for the objects of a device: straight on to them.

use crate::{
    ah::Ah,
    cq::Cq,
    device::{
        OxeDevice,
        Pd, //
    },
    mr::Mr,
    qp::Qp, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::rdma::{
    Access,
    AddressAttributes,
    AhInit,
    Completions,
    CqInit,
    Device,
    DirectMemory,
    Keys,
    PortTraffic,
    QpAttributesOut,
    QpChange,
    QpCreated,
    QpInit,
    RecvRequests,
    SendRequests,
    UserRegion,
    Verbs, //
};
use oxe_uabi::responses::AddressHandle;

impl Verbs for OxeDevice {
    type Cq = Arc<Cq>;
    type Mr = Arc<Mr>;
    type Qp = Arc<Qp>;
    type Ah = Arc<Ah>;

    fn create_cq(dev: &Device<Self>, init: CqInit<'_>) -> Result<(Arc<Cq>, u32)> {
        Cq::new(dev.data(), init)
    }

    fn arm_cq(cq: &Arc<Cq>, solicited_only: bool, _report_missed: bool) -> Result<bool> {
        Ok(cq.arm(solicited_only))
    }

    fn poll_cq(cq: &Arc<Cq>, to: &mut Completions<'_>) -> Result {
        cq.poll(to)
    }

    fn destroy_cq(cq: &Arc<Cq>) {
        cq.destroy();
    }

    fn reg_user_mr(pd: &Pd, region: UserRegion) -> Result<(Arc<Mr>, Keys)> {
        let mr = Mr::register(&pd.link, pd.id, region)?;
        let keys = mr.keys();
        Ok((mr, keys))
    }

    fn get_dma_mr(pd: &Pd, memory: DirectMemory, access: Access) -> Result<(Arc<Mr>, Keys)> {
        let mr = Mr::all(&pd.link, pd.id, memory, access)?;
        let keys = mr.keys();
        Ok((mr, keys))
    }

    fn dereg_mr(mr: &Arc<Mr>) {
        mr.unlink();
    }

    fn create_qp(
        _dev: &Device<Self>,
        pd: &Pd,
        init: QpInit<'_, Self>,
    ) -> Result<(Arc<Qp>, QpCreated)> {
        let qp = Qp::new(&pd.link, pd.id, init)?;
        let created = QpCreated {
            number: qp.qpn.get(),
            caps: qp.caps(),
        };
        Ok((qp, created))
    }

    fn modify_qp(qp: &Arc<Qp>, change: &QpChange<'_>) -> Result {
        Qp::modify(qp.as_arc_borrow(), change)
    }

    fn query_qp(qp: &Arc<Qp>, out: &mut QpAttributesOut<'_>) -> Result {
        qp.query(out);
        Ok(())
    }

    fn destroy_qp(qp: &Arc<Qp>) {
        qp.destroy();
    }

    fn doorbell(qp: &Arc<Qp>) -> Result {
        Qp::ring(qp.as_arc_borrow())
    }

    fn post_send(qp: &Arc<Qp>, requests: &mut SendRequests<'_, Self>) -> Result {
        Qp::post_send(qp.as_arc_borrow(), requests)
    }

    fn post_recv(qp: &Arc<Qp>, requests: &mut RecvRequests<'_>) -> Result {
        Qp::post_recv(qp.as_arc_borrow(), requests)
    }

    fn port_traffic(dev: &Device<Self>) -> PortTraffic {
        dev.data().counters.traffic()
    }

    fn create_ah(_dev: &Device<Self>, pd: &Pd, init: AhInit<'_>) -> Result<Arc<Ah>> {
        let Some(user) = init.user else {
            return Ah::for_kernel(&pd.link, pd.id, init.address, init.sleepable);
        };
        let ah = Ah::new(&pd.link, pd.id, init.address)?;
        let response = AddressHandle {
            number: ah.number(),
        };
        user.respond(&response.to_bytes())
            .inspect_err(|_| ah.unlink())?;
        Ok(ah)
    }

    fn query_ah(ah: &Arc<Ah>) -> AddressAttributes {
        ah.address()
    }

    fn destroy_ah(ah: &Arc<Ah>, _sleepable: bool) {
        ah.unlink();
    }
}
