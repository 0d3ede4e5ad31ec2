# SPDX-License-Identifier: GPL-2.0
"""Much address space over little memory."""

import ctypes
import mmap
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
# sys/mman.h
PROT_NONE, PROT_READ_WRITE = 0, 3
MAP_SHARED, MAP_FIXED, MAP_PRIVATE_ANONYMOUS = 0x01, 0x10, 0x22


class Repeated:
    """`size` bytes of address space, all of which are the same `block` bytes of memory: room for
    what the machine has no memory for."""

    def __init__(self, case, size, block):
        self._file = os.memfd_create("block")
        case.defer(lambda: os.close(self._file))
        os.ftruncate(self._file, block)
        self.size = size
        self.address = _libc.mmap(None, size, PROT_NONE, MAP_PRIVATE_ANONYMOUS, -1, 0)
        case.true(self.address not in (None, 2**64 - 1), "address space")
        case.defer(lambda: _libc.munmap(ctypes.c_void_p(self.address), ctypes.c_size_t(size)))
        for at in range(0, size, block):
            where, how = self.address + at, MAP_SHARED | MAP_FIXED
            got = _libc.mmap(where, min(block, size - at), PROT_READ_WRITE, how, self._file, 0)
            case.equal(got, where, "mmap")
        self.view = mmap.mmap(self._file, block)
        case.defer(self.view.close)
