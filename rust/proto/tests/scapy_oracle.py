#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares the wire format with scapy's: random packets of every opcode.

usage: scapy_oracle.py [--count N] [--seed S] DIRECTORY

DIRECTORY holds the built examples, icrc and decode. scapy makes the packets;
its RoCE layer knows BTH, AETH and the ICRC, what else there is of headers is
packed here from the specification's tables. For each packet the ICRC and the
fields that decode prints are compared; of each, a copy with a changed bit must
be found bad. Captures of several kinds are read as well.

Ends with the line "N passed, N failed, N skipped"; without scapy all is skipped.
"""

import argparse
import logging
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Several kinds of link in one process are meant.
logging.getLogger("scapy.runtime").setLevel(logging.ERROR)

try:
    from scapy.contrib.roce import AETH, BTH
    from scapy.layers.inet import IP, TCP, UDP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.isakmp import ISAKMP
    from scapy.layers.l2 import ARP, CookedLinux, Dot1Q, Ether
    from scapy.packet import Raw, split_layers
    from scapy.utils import PcapNgWriter, PcapWriter
except ImportError as error:
    print(f"scapy_oracle: {error}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

# Not to be taken for something else because of its source port.
split_layers(UDP, ISAKMP, sport=500)
split_layers(UDP, ISAKMP, dport=500)

NAMES = {
    0x00: "SEND first", 0x01: "SEND middle", 0x02: "SEND last", 0x03: "SEND last + immediate",
    0x04: "SEND only", 0x05: "SEND only + immediate", 0x06: "WRITE first", 0x07: "WRITE middle",
    0x08: "WRITE last", 0x09: "WRITE last + immediate", 0x0a: "WRITE only",
    0x0b: "WRITE only + immediate", 0x0c: "READ request", 0x0d: "READ response first",
    0x0e: "READ response middle", 0x0f: "READ response last", 0x10: "READ response only",
    0x11: "acknowledgement", 0x12: "atomic's answer", 0x13: "COMPARE & SWAP",
    0x14: "FETCH & ADD", 0x16: "SEND last + invalidate", 0x17: "SEND only + invalidate",
    0x1c: "FLUSH", 0x1d: "ATOMIC WRITE",
}
UC = [operation for operation in NAMES if operation < 0x0c]
UD = [0x04, 0x05]
XRC = [operation for operation in NAMES if operation < 0x1c]
RESPONSES = range(0x0d, 0x13)
WITH_RETH = {0x06, 0x0a, 0x0b, 0x0c, 0x1c, 0x1d}
WITH_AETH = {0x0d, 0x0f, 0x10, 0x11, 0x12}
WITH_IMMEDIATE = {0x03, 0x05, 0x09, 0x0b}
WITH_KEY = {0x16, 0x17}
WITHOUT_DATA = {0x0c, 0x11, 0x12, 0x13, 0x14, 0x1c}
OPCODES = (
    [("RC", operation) for operation in NAMES]
    + [("UC", 0x20 | operation) for operation in UC]
    + [("UD", 0x60 | operation) for operation in UD]
    + [("XRC", 0xa0 | operation) for operation in XRC]
    + [("CNP", 0x81)]
)
HERE, THERE = "02:00:00:00:00:01", "02:00:00:00:00:02"
NAKS = ["sequence error", "invalid request", "remote access", "remote operation",
        "invalid reliable datagram request"]


def memory(rng, words):
    """A virtual address and a key."""
    address, key = rng.getrandbits(64), rng.getrandbits(32)
    words.append(f"at {address:#x} by key {key:#x}")
    return struct.pack(">QI", address, key)


def aeth(rng, words):
    """An acknowledgement; made by scapy's layer."""
    syndrome, msn = rng.choice([rng.randrange(0x80), 0x1f, 0x60, 0x62]), rng.getrandbits(24)
    kind, code = syndrome >> 5, syndrome & 0x1f
    if kind == 0:
        words.append("ack, " if code == 31 else "ack with ")
    elif kind == 1:
        words.append("receiver not ready for ")
    elif kind == 3 and code < len(NAKS):
        words.append(f"nak: {NAKS[code]}")
    else:
        words.append(f"reserved syndrome {syndrome:#04x}")
    words.append(f"msn {msn:#x}")
    return bytes(AETH(syndrome=syndrome, msn=msn))


def extensions(rng, service, operation, words):
    """The headers after BTH, and the data."""
    out = b""
    if service == "CNP":
        return bytes(16), b""
    if service == "UD":
        key, qp = rng.getrandbits(32), rng.getrandbits(24)
        words += [f"qkey {key:#x}", f"from qp {qp:#x}"]
        out += struct.pack(">II", key, qp)
    if service == "XRC" and operation not in RESPONSES:
        number = rng.getrandbits(24)
        words.append(f"srq {number:#x}")
        out += struct.pack(">I", number)
    if operation == 0x1c:
        level = rng.randrange(4)
        whole = rng.randrange(2)
        aims = ((1, "to visibility"), (2, "to persistence"))
        words += [word for bit, word in aims if level & bit]
        words += ["of the whole region"] * whole
        out += struct.pack(">I", whole << 4 | level)
    if operation in WITH_RETH:
        length = rng.getrandbits(32)
        out += memory(rng, words) + struct.pack(">I", length)
        words.append(f"of {length} bytes in all")
    if operation in WITH_AETH:
        out += aeth(rng, words)
    if operation == 0x12:
        before = rng.getrandbits(64)
        words.append(f"was {before:#x}")
        out += struct.pack(">Q", before)
    if operation in (0x13, 0x14):
        new, old = rng.getrandbits(64), rng.getrandbits(64)
        out += memory(rng, words) + struct.pack(">QQ", new, old)
        words.append(f"add {new:#x}" if operation == 0x14 else f"if {old:#x} then {new:#x}")
    if operation in WITH_IMMEDIATE:
        immediate = rng.randbytes(4)
        words.append(f"immediate {immediate.hex()}")
        out += immediate
    if operation in WITH_KEY:
        key = rng.getrandbits(32)
        words.append(f"invalidates key {key:#x}")
        out += struct.pack(">I", key)
    length = 0 if operation in WITHOUT_DATA else rng.choice([0, 1, 2, 3, 4, rng.randrange(2000)])
    if operation not in WITHOUT_DATA:
        words.append(f"{length} bytes")
    return out, rng.randbytes(length)


def make(rng, service, opcode):
    """A random packet of an opcode, and words that decode has to say of it."""
    words = []
    operation = opcode & 0x1f
    headers, data = extensions(rng, service, operation, words)
    pad = -len(data) % 4
    if pad:
        words.append(f"and {pad} of pad")
    bth = BTH(
        opcode=opcode, solicited=rng.randrange(2), migreq=rng.randrange(2), padcount=pad,
        pkey=rng.choice([0xffff, rng.getrandbits(16)]), fecn=rng.randrange(2),
        becn=rng.randrange(2), resv6=rng.getrandbits(6), dqpn=rng.getrandbits(24),
        ackreq=rng.randrange(2), resv7=rng.getrandbits(7), psn=rng.getrandbits(24),
    )
    words += [f"qp {bth.dqpn:#x}", f"psn {bth.psn:#x}"]
    for set_, word in ((bth.solicited, "solicited"), (bth.migreq, "migrated"),
                       (bth.fecn, "fecn"), (bth.becn, "becn"), (bth.ackreq, "ack requested")):
        words += [word] * set_
    if bth.pkey != 0xffff:
        words.append(f"pkey {bth.pkey:#x}")
    words.append("CNP" if service == "CNP" else f"{service} {NAMES[operation]}, ")
    if rng.randrange(2):
        network = IP(
            src=".".join(str(rng.randrange(1, 224)) for _ in range(4)),
            dst=".".join(str(rng.randrange(1, 240)) for _ in range(4)),
            tos=rng.getrandbits(8), ttl=rng.getrandbits(8), id=rng.getrandbits(16),
            flags=rng.choice(["", "DF"]),
        )
    else:
        network = IPv6(
            src=f"2001:db8::{rng.randrange(1, 0x10000):x}", dst=f"fe80::{rng.randrange(1, 99):x}",
            tc=rng.getrandbits(8), fl=rng.getrandbits(20), hlim=rng.getrandbits(8),
        )
    udp = UDP(sport=rng.getrandbits(16), dport=4791, chksum=rng.choice([0, rng.getrandbits(16)]))
    words.append(f":{udp.sport} > ")
    # Random pad: nobody looks at it, but the ICRC covers it.
    body = Raw(headers + data + rng.randbytes(pad))
    return bytes(network / udp / bth / body), words


def run(program, packets):
    """A program's lines for packets in hex."""
    text = "".join(packet.hex() + "\n" for packet in packets)
    done = subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    if len(lines) != len(packets):
        sys.exit(f"scapy_oracle: {program} gave {len(lines)} lines for {len(packets)} packets")
    return lines


class Results:
    """Counts checks."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, good, message):
        """Counts one."""
        if good:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= 20:
                print(f"FAILED: {message}")


def damage(rng, packet):
    """The packet with a bit changed that the ICRC covers and nobody else looks at."""
    start = (20 if packet[0] >> 4 == 4 else 40) + 8
    at = rng.choice([start + 2, start + 3, *range(start + 5, len(packet))])
    copy = bytearray(packet)
    copy[at] ^= 1 << rng.randrange(8)
    return bytes(copy)


def check_packets(rng, directory, count, results):
    """Packets as hex."""
    made = [make(rng, *OPCODES[i % len(OPCODES)]) for i in range(count)]
    packets = [packet for packet, _ in made]
    for packet, icrc in zip(packets, run(directory / "icrc", packets)):
        results.check(icrc == packet[-4:].hex(), f"ICRC {icrc} of {packet.hex()}")
    for (packet, words), line in zip(made, run(directory / "decode", packets)):
        missing = [word for word in [*words, "icrc good"] if word not in line]
        results.check(not missing, f"{missing} not in {line!r}, {packet.hex()}")
    damaged = [damage(rng, packet) for packet in packets]
    for packet, line in zip(damaged, run(directory / "decode", damaged)):
        results.check("icrc BAD" in line, f"damage not seen: {line!r}, {packet.hex()}")
    return packets


def captures(packets):
    """Frames around packets, with frames of other protocols between them: by kind of link."""
    kind = {4: 0x0800, 6: 0x86dd}
    types = [kind[packet[0] >> 4] for packet in packets]
    other = bytes(IP(dst="10.0.0.1") / TCP(dport=4791))
    ether = [Ether(dst=HERE, src=THERE) / ARP()]
    for number, (packet, type_) in enumerate(zip(packets, types)):
        link = Ether(dst=HERE, src=THERE, type=type_)
        if number % 3 == 1:
            link = Ether(dst=HERE, src=THERE) / Dot1Q(vlan=7, type=type_)
        elif number % 3 == 2:
            link = Ether(dst=HERE, src=THERE, type=0x88a8) / Raw(
                struct.pack(">HHHH", 5, 0x8100, 7, type_))
        # Padded, as short frames are.
        ether.append(link / Raw(packet.ljust(46, b"\xa5")))
    ether = [bytes(frame) for frame in ether]
    cooked = [bytes(CookedLinux(proto=type_) / Raw(packet))
              for packet, type_ in zip(packets, types)]
    # Version 2: protocol, reserved, interface, hardware type, packet type, address.
    cooked2 = [struct.pack(">HHIHBB8x", type_, 0, 3, 1, 0, 6) + packet
               for packet, type_ in zip(packets, types)]
    return {1: ether, 101: [other, *packets], 113: cooked, 276: cooked2}


def check_captures(directory, packets, results):
    """Packets in captures."""
    expected = run(directory / "decode", packets)
    with tempfile.TemporaryDirectory() as scratch:
        for link, frames in captures(packets).items():
            for form in ("<", ">", "<nano", ">nano", "ng"):
                path = Path(scratch) / "capture"
                if form == "ng":
                    writer = PcapNgWriter(str(path))
                    writer.linktype = link
                else:
                    writer = PcapWriter(str(path), linktype=link, endianness=form[0],
                                        nano=form.endswith("nano"))
                with writer:
                    writer.write_header(None)
                    for frame in frames:
                        writer.write_packet(frame, sec=0, usec=0)
                done = subprocess.run([directory / "decode", path], stdout=subprocess.PIPE,
                                      text=True, check=False)
                lines = [line.split(": ", 1)[-1] for line in done.stdout.splitlines()]
                skipped = len(frames) - len(packets)
                want = expected + [f"{skipped} of {len(frames)} packets are not RoCEv2"] * (
                    skipped != 0)
                results.check(lines == want and done.returncode == 0,
                              f"capture of link type {link}, {form}: {lines[:2]}...")


def main():
    """Runs all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000, help="packets")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("directory", type=Path, help="of the built examples")
    arguments = parser.parse_args()
    print(f"scapy_oracle: seed {arguments.seed}")
    results = Results()
    rng = random.Random(arguments.seed)
    packets = check_packets(rng, arguments.directory, arguments.count, results)
    check_captures(arguments.directory, packets[:60], results)
    print(f"{results.passed} passed, {results.failed} failed, 0 skipped")
    sys.exit(results.failed != 0)


main()
