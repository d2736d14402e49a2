"""A process and its two children, looked for by psutil and by us, as JSON."""

import json
import os
import signal
import sys

import psutil

import api


def main():
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            while True:
                signal.pause()
        children.append(child)
    try:
        psutil_says = [one.pid for one in psutil.Process().children(recursive=True)]
    except psutil.AccessDenied:
        psutil_says = "AccessDenied"
    snapshot = api.Context().open(os.getpid()).relatives("descendants")
    for child in children:
        os.kill(child, signal.SIGKILL)
    json.dump({"truth": children, "psutil": psutil_says, "state": snapshot.state("process"),
               "ours": [row["pid"] for row in snapshot.rows("process")]}, sys.stdout)


if __name__ == "__main__":
    main()
