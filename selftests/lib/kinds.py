# SPDX-License-Identifier: GPL-2.0
"""The stock programs that two devices of any two drivers have to run with each other."""

PINGPONGS = (
    *(f"ibv_rc_pingpong -c -n 30 -s {size}" for size in (64, 1000, 4096, 65536)),
    *(f"ibv_uc_pingpong -c -n 30 -s {size}" for size in (64, 1000, 4096, 65536)),
    *(f"ibv_ud_pingpong -c -n 30 -s {size}" for size in (64, 511, 1024)),
    "ibv_rc_pingpong -c -n 30 -e",
    "ibv_rc_pingpong -c -n 30 -N",
    "ibv_ud_pingpong -c -n 30 -s 1024 -e",
)
BANDWIDTHS = (
    *(f"ib_{what}_bw -n 20 -s 33" for what in ("send", "write", "read")),
    *(f"ib_{what}_bw -n 20 -s 65536" for what in ("send", "write", "read")),
    "ib_write_bw -n 5 -s 8388608",
    "ib_read_bw -n 5 -s 8388608",
    "ib_atomic_bw -n 100",
    "ib_atomic_bw -n 100 -A CMP_AND_SWAP",
    "ib_send_bw -n 50 -s 1024 -c UD",
    "ib_write_bw -n 20 -s 16384 -c UC",
    "ib_write_bw -n 20 -s 16384 -q 8 -b",
    "ib_read_bw -n 20 -s 16384 -q 8 -b",
)
LATENCIES = (
    "ib_send_lat -n 50 -s 64 -e",
    "ib_write_lat -n 50 -s 8",
    "ib_read_lat -n 50 -s 4096 -e",
    "ib_atomic_lat -n 50 -e",
    "ib_send_lat -n 50 -s 64 -c UD -e",
)
