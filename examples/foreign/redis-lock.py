#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""redis-lock.py URL [LEASE_SECONDS] - the Lock of redis-py (python3-redis) for
`dlock compare --foreign`.  It does not renew its lease, and has no token."""
import sys

import redis
from redis.exceptions import LockError, RedisError

url = sys.argv[1] if len(sys.argv) > 1 else "redis://127.0.0.1:6379"
lease = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
client = redis.Redis.from_url(url)
held = None


def answer(line):
    print(line, flush=True)


def acquire(name, ms):
    global held
    lock = client.lock("foreign-" + name, timeout=lease, sleep=0.01)
    if ms == 0:
        got = lock.acquire(blocking=False)
    else:
        got = lock.acquire(blocking_timeout=ms / 1000 if ms > 0 else None)
    held = lock if got else held
    answer("ok" if got else "busy")


def release():
    try:
        held.release()
        answer("ok")
    except LockError:  # it expired, and may be another's
        answer("lost")


client.ping()
answer("ready redis-py " + redis.__version__)
for line in sys.stdin:
    words = line.split()
    try:
        if words[0] == "acquire":
            acquire(words[1], int(words[2]))
        elif words[0] == "release":
            release()
        elif words[0] == "token":
            answer("none")
        elif words[0] == "quit":
            break
        else:
            answer("unsupported " + words[0])
    except RedisError as error:
        answer("error " + str(error).replace("\n", " "))
