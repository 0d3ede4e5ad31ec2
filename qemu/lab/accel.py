# SPDX-License-Identifier: GPL-2.0
"""Chooses between KVM and TCG by trying."""

import os
import selectors
import subprocess
import time
from pathlib import Path

# /dev/kvm may open, run simple code, and still fail or hang in a kernel. So the
# guest's own kernel is booted, without a root filesystem, up to its panic.
PROBE_END = b"Unable to mount root fs"
PROBE_FAIL = b"KVM internal error"
PROBE_SECONDS = 10


def _watch(process):
    """None when the probe gets to its end, else what went wrong."""
    end = time.monotonic() + PROBE_SECONDS
    text = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while time.monotonic() < end:
            if not selector.select(end - time.monotonic()):
                break
            data = os.read(process.stdout.fileno(), 65536)
            text += data
            if PROBE_END in text:
                return None
            if PROBE_FAIL in text:
                return PROBE_FAIL.decode()
            if not data:
                last = text.decode(errors="replace").strip().splitlines()
                return last[-1] if last else "the probe ended early"
    return f"a kernel does not boot in {PROBE_SECONDS} s"


def _try_kvm(qemu, image):
    command = [
        *qemu, "-accel", "kvm", "-cpu", "host", "-m", "512", "-nodefaults",
        "-display", "none", "-no-reboot", "-serial", "file:/dev/stdout",
        "-kernel", str(image / "vmlinux"), "-append", "console=ttyS0 panic=-1",
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        return _watch(process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def choose(qemu, image, cache, wish, say):
    """Return 'kvm' or 'tcg'. The wish is 'kvm', 'tcg' or None to try; what was
    found holds until the next boot of this machine."""
    wish = wish or os.environ.get("OXE_ACCEL") or None
    if wish in ("kvm", "tcg"):
        return wish
    if wish is not None:
        raise SystemExit(f"OXE_ACCEL={wish}: must be kvm or tcg")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    known = Path(cache) / f"accel-{boot}"
    if not known.exists():
        why = _try_kvm(qemu, image)
        say("KVM works" if why is None else f"no KVM ({why}); using TCG")
        fresh = known.with_suffix(f".{os.getpid()}")
        fresh.write_text("kvm\n" if why is None else "tcg\n")
        fresh.rename(known)
    return known.read_text().strip()
