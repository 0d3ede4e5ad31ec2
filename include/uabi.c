// SPDX-License-Identifier: GPL-2.0
/*
 * What the headers of the user ABI say, for rust/uabi/abi.rs to be compared with at build time.
 * Compiled to assembly only, never linked.
 */
#include <linux/kbuild.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

#define SIZE(type) DEFINE(type##__BYTES, sizeof(struct type))
#define FIELD(type, name, member) DEFINE(type##__##name, offsetof(struct type, member))
#define NUMBER(name) DEFINE(name, name)

int main(void)
{
	SIZE(rxe_queue_buf);
	FIELD(rxe_queue_buf, LOG2_ELEMENT, log2_elem_size);
	FIELD(rxe_queue_buf, INDEX_MASK, index_mask);
	FIELD(rxe_queue_buf, PRODUCER, producer_index);
	FIELD(rxe_queue_buf, CONSUMER, consumer_index);
	FIELD(rxe_queue_buf, DATA, data);

	SIZE(rxe_send_wqe);
	FIELD(rxe_send_wqe, WR_ID, wr.wr_id);
	FIELD(rxe_send_wqe, OPCODE, wr.opcode);
	FIELD(rxe_send_wqe, FLAGS, wr.send_flags);
	FIELD(rxe_send_wqe, IMMEDIATE, wr.ex.imm_data);
	FIELD(rxe_send_wqe, INVALIDATE, wr.ex.invalidate_rkey);
	FIELD(rxe_send_wqe, RDMA_ADDRESS, wr.wr.rdma.remote_addr);
	FIELD(rxe_send_wqe, RDMA_RKEY, wr.wr.rdma.rkey);
	FIELD(rxe_send_wqe, ATOMIC_ADDRESS, wr.wr.atomic.remote_addr);
	FIELD(rxe_send_wqe, ATOMIC_OPERAND, wr.wr.atomic.compare_add);
	FIELD(rxe_send_wqe, ATOMIC_SWAP, wr.wr.atomic.swap);
	FIELD(rxe_send_wqe, ATOMIC_RKEY, wr.wr.atomic.rkey);
	FIELD(rxe_send_wqe, FLUSH_ADDRESS, wr.wr.flush.remote_addr);
	FIELD(rxe_send_wqe, FLUSH_RKEY, wr.wr.flush.rkey);
	FIELD(rxe_send_wqe, FLUSH_TYPE, wr.wr.flush.type);
	FIELD(rxe_send_wqe, FLUSH_LEVEL, wr.wr.flush.level);
	FIELD(rxe_send_wqe, UD_QPN, wr.wr.ud.remote_qpn);
	FIELD(rxe_send_wqe, UD_QKEY, wr.wr.ud.remote_qkey);
	FIELD(rxe_send_wqe, UD_AH, wr.wr.ud.ah_num);
	FIELD(rxe_send_wqe, UD_AV, wr.wr.ud.av);
	FIELD(rxe_send_wqe, MW_ADDRESS, wr.wr.mw.addr);
	FIELD(rxe_send_wqe, MW_LENGTH, wr.wr.mw.length);
	FIELD(rxe_send_wqe, MW_LKEY, wr.wr.mw.mr_lkey);
	FIELD(rxe_send_wqe, MW_OLD_RKEY, wr.wr.mw.mw_rkey);
	FIELD(rxe_send_wqe, MW_NEW_RKEY, wr.wr.mw.rkey);
	FIELD(rxe_send_wqe, MW_ACCESS, wr.wr.mw.access);
	FIELD(rxe_send_wqe, LENGTH, dma.length);
	FIELD(rxe_send_wqe, NUM_SGE, dma.num_sge);
	FIELD(rxe_send_wqe, SGE, dma.sge);
	FIELD(rxe_send_wqe, INLINE, dma.inline_data);
	FIELD(rxe_send_wqe, ATOMIC_WRITE, dma.atomic_wr);

	SIZE(rxe_recv_wqe);
	FIELD(rxe_recv_wqe, WR_ID, wr_id);
	FIELD(rxe_recv_wqe, NUM_SGE, dma.num_sge);
	FIELD(rxe_recv_wqe, SGE, dma.sge);

	SIZE(rxe_sge);
	FIELD(rxe_sge, ADDRESS, addr);
	FIELD(rxe_sge, LENGTH, length);
	FIELD(rxe_sge, LKEY, lkey);

	SIZE(rxe_av);
	FIELD(rxe_av, PORT, port_num);
	FIELD(rxe_av, NETWORK, network_type);
	FIELD(rxe_av, DMAC, dmac);
	FIELD(rxe_av, DGID, grh.dgid);
	FIELD(rxe_av, FLOW_LABEL, grh.flow_label);
	FIELD(rxe_av, SGID_INDEX, grh.sgid_index);
	FIELD(rxe_av, HOP_LIMIT, grh.hop_limit);
	FIELD(rxe_av, TRAFFIC_CLASS, grh.traffic_class);
	FIELD(rxe_av, SOURCE_V4, sgid_addr._sockaddr_in.sin_addr);
	FIELD(rxe_av, SOURCE_V6, sgid_addr._sockaddr_in6.sin6_addr);
	FIELD(rxe_av, DESTINATION_V4, dgid_addr._sockaddr_in.sin_addr);
	FIELD(rxe_av, DESTINATION_V6, dgid_addr._sockaddr_in6.sin6_addr);

	SIZE(ib_uverbs_wc);
	FIELD(ib_uverbs_wc, WR_ID, wr_id);
	FIELD(ib_uverbs_wc, STATUS, status);
	FIELD(ib_uverbs_wc, OPCODE, opcode);
	FIELD(ib_uverbs_wc, VENDOR_ERROR, vendor_err);
	FIELD(ib_uverbs_wc, BYTE_LEN, byte_len);
	FIELD(ib_uverbs_wc, IMMEDIATE, ex.imm_data);
	FIELD(ib_uverbs_wc, INVALIDATED, ex.invalidate_rkey);
	FIELD(ib_uverbs_wc, QP_NUM, qp_num);
	FIELD(ib_uverbs_wc, SOURCE_QP, src_qp);
	FIELD(ib_uverbs_wc, FLAGS, wc_flags);
	FIELD(ib_uverbs_wc, PKEY_INDEX, pkey_index);
	FIELD(ib_uverbs_wc, SLID, slid);
	FIELD(ib_uverbs_wc, SL, sl);
	FIELD(ib_uverbs_wc, DLID_PATH_BITS, dlid_path_bits);
	FIELD(ib_uverbs_wc, PORT, port_num);

	SIZE(mminfo);
	FIELD(mminfo, OFFSET, offset);
	FIELD(mminfo, SIZE, size);

	SIZE(rxe_create_cq_resp);
	FIELD(rxe_create_cq_resp, RING, mi);

	SIZE(rxe_resize_cq_resp);
	FIELD(rxe_resize_cq_resp, RING, mi);

	SIZE(rxe_create_qp_resp);
	FIELD(rxe_create_qp_resp, RECEIVE, rq_mi);
	FIELD(rxe_create_qp_resp, SEND, sq_mi);

	SIZE(rxe_create_srq_resp);
	FIELD(rxe_create_srq_resp, RING, mi);
	FIELD(rxe_create_srq_resp, NUMBER, srq_num);

	SIZE(rxe_create_ah_resp);
	FIELD(rxe_create_ah_resp, NUMBER, ah_num);

	SIZE(rxe_modify_srq_cmd);
	FIELD(rxe_modify_srq_cmd, ADDRESS, mmap_info_addr);

	NUMBER(IB_UVERBS_WR_RDMA_WRITE);
	NUMBER(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
	NUMBER(IB_UVERBS_WR_SEND);
	NUMBER(IB_UVERBS_WR_SEND_WITH_IMM);
	NUMBER(IB_UVERBS_WR_RDMA_READ);
	NUMBER(IB_UVERBS_WR_ATOMIC_CMP_AND_SWP);
	NUMBER(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD);
	NUMBER(IB_UVERBS_WR_LOCAL_INV);
	NUMBER(IB_UVERBS_WR_BIND_MW);
	NUMBER(IB_UVERBS_WR_SEND_WITH_INV);
	NUMBER(IB_UVERBS_WR_FLUSH);
	NUMBER(IB_UVERBS_WR_ATOMIC_WRITE);

	NUMBER(IB_SEND_FENCE);
	NUMBER(IB_SEND_SIGNALED);
	NUMBER(IB_SEND_SOLICITED);
	NUMBER(IB_SEND_INLINE);

	NUMBER(IB_FLUSH_GLOBAL);
	NUMBER(IB_FLUSH_PERSISTENT);
	NUMBER(IB_FLUSH_RANGE);
	NUMBER(IB_FLUSH_MR);

	NUMBER(RXE_NETWORK_TYPE_IPV4);
	NUMBER(RXE_NETWORK_TYPE_IPV6);

	NUMBER(IB_WC_SUCCESS);
	NUMBER(IB_WC_LOC_LEN_ERR);
	NUMBER(IB_WC_LOC_QP_OP_ERR);
	NUMBER(IB_WC_LOC_PROT_ERR);
	NUMBER(IB_WC_WR_FLUSH_ERR);
	NUMBER(IB_WC_MW_BIND_ERR);
	NUMBER(IB_WC_BAD_RESP_ERR);
	NUMBER(IB_WC_LOC_ACCESS_ERR);
	NUMBER(IB_WC_REM_INV_REQ_ERR);
	NUMBER(IB_WC_REM_ACCESS_ERR);
	NUMBER(IB_WC_REM_OP_ERR);
	NUMBER(IB_WC_RETRY_EXC_ERR);
	NUMBER(IB_WC_RNR_RETRY_EXC_ERR);

	NUMBER(IB_UVERBS_WC_SEND);
	NUMBER(IB_UVERBS_WC_RDMA_WRITE);
	NUMBER(IB_UVERBS_WC_RDMA_READ);
	NUMBER(IB_UVERBS_WC_COMP_SWAP);
	NUMBER(IB_UVERBS_WC_FETCH_ADD);
	NUMBER(IB_UVERBS_WC_BIND_MW);
	NUMBER(IB_UVERBS_WC_LOCAL_INV);
	NUMBER(IB_UVERBS_WC_FLUSH);
	NUMBER(IB_UVERBS_WC_ATOMIC_WRITE);
	NUMBER(IB_WC_RECV);
	NUMBER(IB_WC_RECV_RDMA_WITH_IMM);

	NUMBER(IB_WC_GRH);
	NUMBER(IB_WC_WITH_IMM);
	NUMBER(IB_WC_WITH_INVALIDATE);

	return 0;
}
