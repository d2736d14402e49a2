"""Constants of vitals.compat.psutil that are members of enumerations, its own and those of the module socket. They are
loaded with their first use: socket and enum take as long to import as all the rest of it."""

from __future__ import annotations

import enum
import socket


class NicDuplex(enum.IntEnum):
    NIC_DUPLEX_FULL = 2
    NIC_DUPLEX_HALF = 1
    NIC_DUPLEX_UNKNOWN = 0


class BatteryTime(enum.IntEnum):
    POWER_TIME_UNKNOWN = -1
    POWER_TIME_UNLIMITED = -2


class IOPriority(enum.IntEnum):
    IOPRIO_CLASS_NONE = 0
    IOPRIO_CLASS_RT = 1
    IOPRIO_CLASS_BE = 2
    IOPRIO_CLASS_IDLE = 3


AF_LINK = socket.AF_PACKET
MEMBERS = {member.name: member for kind in (NicDuplex, BatteryTime, IOPriority) for member in kind}
globals().update(MEMBERS)

FAMILIES = {"inet": socket.AF_INET, "inet6": socket.AF_INET6, "unix": socket.AF_UNIX, "packet": socket.AF_PACKET,
            "link": AF_LINK}
SOCKET_TYPES = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "seqpacket": socket.SOCK_SEQPACKET}
DUPLEX = {"full": NicDuplex.NIC_DUPLEX_FULL, "half": NicDuplex.NIC_DUPLEX_HALF}
IO_CLASSES = tuple(IOPriority)  # by their numbers
