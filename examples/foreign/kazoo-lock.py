#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kazoo-lock.py HOSTS [SESSION_SECONDS] - the Lock of kazoo (python3-kazoo) for
`dlock compare --foreign`.  A session that was lost is told at the release."""
import sys

import kazoo.version
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, LockTimeout

hosts = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:2181"
client = KazooClient(hosts, timeout=float(sys.argv[2]) if sys.argv[2:] else 2.0)
held, lost = None, False


def answer(line):
    print(line, flush=True)


def listen(state):
    global lost
    lost = lost or state == KazooState.LOST


def acquire(name, ms):
    global held, lost
    lock = client.Lock("/foreign/" + name)
    try:
        if ms == 0:
            got = lock.acquire(blocking=False)
        else:
            got = lock.acquire(timeout=ms / 1000 if ms > 0 else None)
    except LockTimeout:
        got = False
    if got:
        held, lost = lock, False
    answer("ok" if got else "busy")


client.add_listener(listen)
client.start(timeout=8)
answer("ready kazoo " + kazoo.version.__version__)
for line in sys.stdin:
    words = line.split()
    try:
        if words[0] == "acquire":
            acquire(words[1], int(words[2]))
        elif words[0] == "release":
            held.release()
            answer("lost" if lost else "ok")
        elif words[0] == "token":
            answer("none")
        elif words[0] == "quit":
            break
        else:
            answer("unsupported " + words[0])
    except KazooException as error:
        answer("error " + repr(error).replace("\n", " "))
client.stop()
