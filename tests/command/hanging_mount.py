"""hanging_mount.py FOLDER COMMAND…: runs a command beside a file system (FUSE) whose server is asked for the
space and gives no answer, in a mount namespace of its own. Prints how the command ended, as JSON. What
is held by it is let go at the end, when the server closes its connection."""

import ctypes
import json
import os
import select
import struct
import subprocess
import sys
import threading

INIT, STATFS = 26, 17
SECONDS = 30


def serve(device, asked):
    """Answers to the greeting and swallows everything else."""
    while True:
        request = os.read(device, 1 << 17)
        _, operation, unique = struct.unpack_from("IIQ", request)
        if operation == INIT:
            major, minor = 7, 31
            body = struct.pack("IIIIHHIIHHI7I", major, minor, 0, 0, 12, 9, 1 << 16, 1, 32, 0, *[0] * 8)
            os.write(device, struct.pack("IiQ", 16 + len(body), 0, unique) + body)
        elif operation == STATFS:
            asked.set()


def main():
    folder, *command = sys.argv[1:]
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hangs", folder.encode(), b"fuse", 0, options.encode()) != 0:
        sys.exit(f"no FUSE: {os.strerror(ctypes.get_errno())}")
    asked = threading.Event()
    threading.Thread(target=serve, args=(device, asked), daemon=True).start()
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ends = os.pidfd_open(program.pid)
    out = b""
    while True:  # until all that holds its output has ended
        ready, _, _ = select.select([program.stdout], [], [], SECONDS)
        block = os.read(program.stdout.fileno(), 1 << 16) if ready else b""
        out += block
        if not block:
            break
    closed = bool(ready)
    ended = bool(select.select([ends], [], [], SECONDS)[0])
    print(json.dumps({"ended": ended, "closed": closed, "asked": asked.is_set(),
                      "code": program.wait() if ended else None, "out": out.decode(errors="replace")}), flush=True)
    os._exit(0)  # with the connection: who is held gets an error


main()
