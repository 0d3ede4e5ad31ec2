// SPDX-License-Identifier: GPL-2.0

//! Sizes, offsets and numbers of the ABI.
//!
//! Each has its counterpart in `include/uabi.c`, which the kernel's compiler turns into what the
//! headers say; there is no way to add one without naming it. Where they differ, the module does
//! not build, and where nothing here is compared with a line there, it builds with a warning.

/// Compares a value with what the kernel's compiler says of it.
#[cfg(CONFIG_RUST)]
macro_rules! compare {
    ($value:literal == $c:ident) => {
        assert!($value == crate::abi_generated::$c, stringify!($c))
    };
}

/// The host has no kernel to compare with.
#[cfg(not(CONFIG_RUST))]
macro_rules! compare {
    ($value:literal == $c:ident) => {};
}

/// A struct: constants with their value, their name in `include/uabi.c` and the member they are
/// the offset of.
macro_rules! layout {
    (
        $of:literal;
        $($name:ident = $value:literal == $c:ident, $member:literal;)*
    ) => {
        $(
            #[doc = concat!("`", $member, "` of `", $of, "`.")]
            pub const $name: usize = {
                compare!($value == $c);
                $value
            };
        )*
    };
}

/// Numbers: their value and their name in the kernel, with which `include/uabi.c` has them.
macro_rules! numbers {
    ($($name:ident = $value:literal == $c:ident;)*) => {
        $(
            #[doc = concat!("`", stringify!($c), "`.")]
            pub const $name: u32 = {
                compare!($value == $c);
                $value
            };
        )*
    };
}

/// The head of a ring, `struct rxe_queue_buf`; the elements follow.
pub mod ring {
    layout! {
        "struct rxe_queue_buf";
        BYTES = 384 == rxe_queue_buf__BYTES, "sizeof";
        LOG2_ELEMENT = 0 == rxe_queue_buf__LOG2_ELEMENT, "log2_elem_size";
        INDEX_MASK = 4 == rxe_queue_buf__INDEX_MASK, "index_mask";
        PRODUCER = 128 == rxe_queue_buf__PRODUCER, "producer_index";
        CONSUMER = 256 == rxe_queue_buf__CONSUMER, "consumer_index";
        DATA = 384 == rxe_queue_buf__DATA, "data";
    }
}

/// An element of a send queue, `struct rxe_send_wqe`: this head, then its gather list or its data.
pub mod send {
    layout! {
        "struct rxe_send_wqe";
        BYTES = 208 == rxe_send_wqe__BYTES, "sizeof";
        WR_ID = 0 == rxe_send_wqe__WR_ID, "wr.wr_id";
        OPCODE = 12 == rxe_send_wqe__OPCODE, "wr.opcode";
        FLAGS = 16 == rxe_send_wqe__FLAGS, "wr.send_flags";
        IMMEDIATE = 20 == rxe_send_wqe__IMMEDIATE, "wr.ex.imm_data";
        INVALIDATE = 20 == rxe_send_wqe__INVALIDATE, "wr.ex.invalidate_rkey";
        RDMA_ADDRESS = 24 == rxe_send_wqe__RDMA_ADDRESS, "wr.wr.rdma.remote_addr";
        RDMA_RKEY = 32 == rxe_send_wqe__RDMA_RKEY, "wr.wr.rdma.rkey";
        ATOMIC_ADDRESS = 24 == rxe_send_wqe__ATOMIC_ADDRESS, "wr.wr.atomic.remote_addr";
        ATOMIC_OPERAND = 32 == rxe_send_wqe__ATOMIC_OPERAND, "wr.wr.atomic.compare_add";
        ATOMIC_SWAP = 40 == rxe_send_wqe__ATOMIC_SWAP, "wr.wr.atomic.swap";
        ATOMIC_RKEY = 48 == rxe_send_wqe__ATOMIC_RKEY, "wr.wr.atomic.rkey";
        FLUSH_ADDRESS = 24 == rxe_send_wqe__FLUSH_ADDRESS, "wr.wr.flush.remote_addr";
        FLUSH_RKEY = 36 == rxe_send_wqe__FLUSH_RKEY, "wr.wr.flush.rkey";
        FLUSH_TYPE = 40 == rxe_send_wqe__FLUSH_TYPE, "wr.wr.flush.type";
        FLUSH_LEVEL = 41 == rxe_send_wqe__FLUSH_LEVEL, "wr.wr.flush.level";
        UD_QPN = 24 == rxe_send_wqe__UD_QPN, "wr.wr.ud.remote_qpn";
        UD_QKEY = 28 == rxe_send_wqe__UD_QKEY, "wr.wr.ud.remote_qkey";
        UD_AH = 36 == rxe_send_wqe__UD_AH, "wr.wr.ud.ah_num";
        UD_AV = 56 == rxe_send_wqe__UD_AV, "wr.wr.ud.av";
        MW_ADDRESS = 24 == rxe_send_wqe__MW_ADDRESS, "wr.wr.mw.addr";
        MW_LENGTH = 32 == rxe_send_wqe__MW_LENGTH, "wr.wr.mw.length";
        MW_LKEY = 40 == rxe_send_wqe__MW_LKEY, "wr.wr.mw.mr_lkey";
        MW_OLD_RKEY = 44 == rxe_send_wqe__MW_OLD_RKEY, "wr.wr.mw.mw_rkey";
        MW_NEW_RKEY = 48 == rxe_send_wqe__MW_NEW_RKEY, "wr.wr.mw.rkey";
        MW_ACCESS = 52 == rxe_send_wqe__MW_ACCESS, "wr.wr.mw.access";
        LENGTH = 184 == rxe_send_wqe__LENGTH, "dma.length";
        NUM_SGE = 196 == rxe_send_wqe__NUM_SGE, "dma.num_sge";
        SGE = 208 == rxe_send_wqe__SGE, "dma.sge";
        INLINE = 208 == rxe_send_wqe__INLINE, "dma.inline_data";
        ATOMIC_WRITE = 208 == rxe_send_wqe__ATOMIC_WRITE, "dma.atomic_wr";
    }
}

/// An element of a receive queue, `struct rxe_recv_wqe`: this head, then its scatter list.
pub mod recv {
    layout! {
        "struct rxe_recv_wqe";
        BYTES = 40 == rxe_recv_wqe__BYTES, "sizeof";
        WR_ID = 0 == rxe_recv_wqe__WR_ID, "wr_id";
        NUM_SGE = 28 == rxe_recv_wqe__NUM_SGE, "dma.num_sge";
        SGE = 40 == rxe_recv_wqe__SGE, "dma.sge";
    }
}

/// An entry of a gather or scatter list, `struct rxe_sge`.
pub mod sge {
    layout! {
        "struct rxe_sge";
        BYTES = 16 == rxe_sge__BYTES, "sizeof";
        ADDRESS = 0 == rxe_sge__ADDRESS, "addr";
        LENGTH = 8 == rxe_sge__LENGTH, "length";
        LKEY = 12 == rxe_sge__LKEY, "lkey";
    }
}

/// An address vector, `struct rxe_av`.
pub mod av {
    layout! {
        "struct rxe_av";
        BYTES = 88 == rxe_av__BYTES, "sizeof";
        PORT = 0 == rxe_av__PORT, "port_num";
        NETWORK = 1 == rxe_av__NETWORK, "network_type";
        DMAC = 2 == rxe_av__DMAC, "dmac";
        DGID = 8 == rxe_av__DGID, "grh.dgid";
        FLOW_LABEL = 24 == rxe_av__FLOW_LABEL, "grh.flow_label";
        SGID_INDEX = 28 == rxe_av__SGID_INDEX, "grh.sgid_index";
        HOP_LIMIT = 29 == rxe_av__HOP_LIMIT, "grh.hop_limit";
        TRAFFIC_CLASS = 30 == rxe_av__TRAFFIC_CLASS, "grh.traffic_class";
        SOURCE_V4 = 36 == rxe_av__SOURCE_V4, "sgid_addr._sockaddr_in.sin_addr";
        SOURCE_V6 = 40 == rxe_av__SOURCE_V6, "sgid_addr._sockaddr_in6.sin6_addr";
        DESTINATION_V4 = 64 == rxe_av__DESTINATION_V4, "dgid_addr._sockaddr_in.sin_addr";
        DESTINATION_V6 = 68 == rxe_av__DESTINATION_V6, "dgid_addr._sockaddr_in6.sin6_addr";
    }
}

/// An entry of a completion queue, `struct ib_uverbs_wc`.
pub mod wc {
    layout! {
        "struct ib_uverbs_wc";
        BYTES = 48 == ib_uverbs_wc__BYTES, "sizeof";
        WR_ID = 0 == ib_uverbs_wc__WR_ID, "wr_id";
        STATUS = 8 == ib_uverbs_wc__STATUS, "status";
        OPCODE = 12 == ib_uverbs_wc__OPCODE, "opcode";
        VENDOR_ERROR = 16 == ib_uverbs_wc__VENDOR_ERROR, "vendor_err";
        BYTE_LEN = 20 == ib_uverbs_wc__BYTE_LEN, "byte_len";
        IMMEDIATE = 24 == ib_uverbs_wc__IMMEDIATE, "ex.imm_data";
        INVALIDATED = 24 == ib_uverbs_wc__INVALIDATED, "ex.invalidate_rkey";
        QP_NUM = 28 == ib_uverbs_wc__QP_NUM, "qp_num";
        SOURCE_QP = 32 == ib_uverbs_wc__SOURCE_QP, "src_qp";
        FLAGS = 36 == ib_uverbs_wc__FLAGS, "wc_flags";
        PKEY_INDEX = 40 == ib_uverbs_wc__PKEY_INDEX, "pkey_index";
        SLID = 42 == ib_uverbs_wc__SLID, "slid";
        SL = 44 == ib_uverbs_wc__SL, "sl";
        DLID_PATH_BITS = 45 == ib_uverbs_wc__DLID_PATH_BITS, "dlid_path_bits";
        PORT = 46 == ib_uverbs_wc__PORT, "port_num";
    }
}

/// What can be mapped, `struct mminfo`.
pub mod mminfo {
    layout! {
        "struct mminfo";
        BYTES = 16 == mminfo__BYTES, "sizeof";
        OFFSET = 0 == mminfo__OFFSET, "offset";
        SIZE = 8 == mminfo__SIZE, "size";
    }
}

/// The answer to create CQ, `struct rxe_create_cq_resp`.
pub mod create_cq {
    layout! {
        "struct rxe_create_cq_resp";
        BYTES = 16 == rxe_create_cq_resp__BYTES, "sizeof";
        RING = 0 == rxe_create_cq_resp__RING, "mi";
    }
}

/// The answer to resize CQ, `struct rxe_resize_cq_resp`.
pub mod resize_cq {
    layout! {
        "struct rxe_resize_cq_resp";
        BYTES = 16 == rxe_resize_cq_resp__BYTES, "sizeof";
        RING = 0 == rxe_resize_cq_resp__RING, "mi";
    }
}

/// The answer to create QP, `struct rxe_create_qp_resp`.
pub mod create_qp {
    layout! {
        "struct rxe_create_qp_resp";
        BYTES = 32 == rxe_create_qp_resp__BYTES, "sizeof";
        RECEIVE = 0 == rxe_create_qp_resp__RECEIVE, "rq_mi";
        SEND = 16 == rxe_create_qp_resp__SEND, "sq_mi";
    }
}

/// The answer to create SRQ, `struct rxe_create_srq_resp`.
pub mod create_srq {
    layout! {
        "struct rxe_create_srq_resp";
        BYTES = 24 == rxe_create_srq_resp__BYTES, "sizeof";
        RING = 0 == rxe_create_srq_resp__RING, "mi";
        NUMBER = 16 == rxe_create_srq_resp__NUMBER, "srq_num";
    }
}

/// The answer to create AH, `struct rxe_create_ah_resp`.
pub mod create_ah {
    layout! {
        "struct rxe_create_ah_resp";
        BYTES = 8 == rxe_create_ah_resp__BYTES, "sizeof";
        NUMBER = 0 == rxe_create_ah_resp__NUMBER, "ah_num";
    }
}

/// What modify SRQ comes with, `struct rxe_modify_srq_cmd`.
pub mod modify_srq {
    layout! {
        "struct rxe_modify_srq_cmd";
        BYTES = 8 == rxe_modify_srq_cmd__BYTES, "sizeof";
        ADDRESS = 0 == rxe_modify_srq_cmd__ADDRESS, "mmap_info_addr";
    }
}

/// What a send request asks for, `enum ib_uverbs_wr_opcode`, as far as users may.
pub mod wr_opcode {
    numbers! {
        WRITE = 0 == IB_UVERBS_WR_RDMA_WRITE;
        WRITE_WITH_IMMEDIATE = 1 == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
        SEND = 2 == IB_UVERBS_WR_SEND;
        SEND_WITH_IMMEDIATE = 3 == IB_UVERBS_WR_SEND_WITH_IMM;
        READ = 4 == IB_UVERBS_WR_RDMA_READ;
        COMPARE_SWAP = 5 == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;
        FETCH_ADD = 6 == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
        LOCAL_INVALIDATE = 7 == IB_UVERBS_WR_LOCAL_INV;
        BIND_WINDOW = 8 == IB_UVERBS_WR_BIND_MW;
        SEND_WITH_INVALIDATE = 9 == IB_UVERBS_WR_SEND_WITH_INV;
        FLUSH = 14 == IB_UVERBS_WR_FLUSH;
        ATOMIC_WRITE = 15 == IB_UVERBS_WR_ATOMIC_WRITE;
    }
}

/// How a send request is to be done, `enum ib_send_flags`.
pub mod send_flag {
    numbers! {
        FENCE = 1 == IB_SEND_FENCE;
        SIGNALLED = 2 == IB_SEND_SIGNALED;
        SOLICITED = 4 == IB_SEND_SOLICITED;
        INLINE = 8 == IB_SEND_INLINE;
    }
}

/// How far a FLUSH reaches, `enum ib_placement_type` and `enum ib_selectivity_level`.
pub mod flush {
    numbers! {
        GLOBAL = 1 == IB_FLUSH_GLOBAL;
        PERSISTENT = 2 == IB_FLUSH_PERSISTENT;
        RANGE = 0 == IB_FLUSH_RANGE;
        REGION = 1 == IB_FLUSH_MR;
    }
}

/// Network of an address vector.
pub mod network {
    numbers! {
        V4 = 1 == RXE_NETWORK_TYPE_IPV4;
        V6 = 2 == RXE_NETWORK_TYPE_IPV6;
    }
}

/// How a request ended, `enum ib_wc_status`.
pub mod wc_status {
    numbers! {
        SUCCESS = 0 == IB_WC_SUCCESS;
        LOCAL_LENGTH = 1 == IB_WC_LOC_LEN_ERR;
        LOCAL_QP_OPERATION = 2 == IB_WC_LOC_QP_OP_ERR;
        LOCAL_PROTECTION = 4 == IB_WC_LOC_PROT_ERR;
        FLUSHED = 5 == IB_WC_WR_FLUSH_ERR;
        WINDOW_BIND = 6 == IB_WC_MW_BIND_ERR;
        BAD_RESPONSE = 7 == IB_WC_BAD_RESP_ERR;
        LOCAL_ACCESS = 8 == IB_WC_LOC_ACCESS_ERR;
        REMOTE_INVALID_REQUEST = 9 == IB_WC_REM_INV_REQ_ERR;
        REMOTE_ACCESS = 10 == IB_WC_REM_ACCESS_ERR;
        REMOTE_OPERATION = 11 == IB_WC_REM_OP_ERR;
        RETRY_EXCEEDED = 12 == IB_WC_RETRY_EXC_ERR;
        RNR_RETRY_EXCEEDED = 13 == IB_WC_RNR_RETRY_EXC_ERR;
    }
}

/// What a completion tells of, `enum ib_uverbs_wc_opcode` and what ib_core adds for receives.
pub mod wc_opcode {
    numbers! {
        SEND = 0 == IB_UVERBS_WC_SEND;
        WRITE = 1 == IB_UVERBS_WC_RDMA_WRITE;
        READ = 2 == IB_UVERBS_WC_RDMA_READ;
        COMPARE_SWAP = 3 == IB_UVERBS_WC_COMP_SWAP;
        FETCH_ADD = 4 == IB_UVERBS_WC_FETCH_ADD;
        BIND_WINDOW = 5 == IB_UVERBS_WC_BIND_MW;
        LOCAL_INVALIDATE = 6 == IB_UVERBS_WC_LOCAL_INV;
        FLUSH = 8 == IB_UVERBS_WC_FLUSH;
        ATOMIC_WRITE = 9 == IB_UVERBS_WC_ATOMIC_WRITE;
        RECEIVE = 0x80 == IB_WC_RECV;
        RECEIVE_WRITE = 0x81 == IB_WC_RECV_RDMA_WITH_IMM;
    }
}

/// What else a completion has, `enum ib_wc_flags`.
pub mod wc_flag {
    numbers! {
        GRH = 1 == IB_WC_GRH;
        IMMEDIATE = 2 == IB_WC_WITH_IMM;
        INVALIDATED = 4 == IB_WC_WITH_INVALIDATE;
    }
}
