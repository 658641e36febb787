#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""foreign.py [SECONDS] - clients of dlock with key=plain, of redis-py and, if
node finds them, of ioredis and node-redlock contend for the same lock of the
server in DLOCK_TEST_URIS.  Two holders at once cannot both make a directory.
77: redis-py is missing."""
import os
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import urlsplit

try:
    import redis
except ImportError:
    print("python3-redis is missing")
    sys.exit(77)

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5
SLOW = float(os.environ.get("DLOCK_TEST_SLOW", "1"))
NAME = "lock:" + str(os.getpid())
URI = os.environ["DLOCK_TEST_URIS"].split()[0] + "&key=plain"
PORT = urlsplit(URI).port
HERE = os.path.dirname(os.path.abspath(__file__))
WORK = """if mkdir "$1/in"; then echo $DLOCK_TOKEN >> "$1/tokens"; sleep 0.002
rmdir "$1/in"; else echo overlap >> "$1/overlaps"; fi"""


class Room:
    """Where one holder may be at a time."""

    def __init__(self, place):
        self.place = place
        self.rounds = {"dlock": 0, "redis-py": 0}
        self.end = time.monotonic() + SECONDS * SLOW
        self.mu = threading.Condition()

    def is_open(self):
        """Until everybody had turns: a slow machine may take longer."""
        late = time.monotonic() - self.end
        return late < 0 or late < 60 * SLOW and min(self.rounds.values()) < 5

    def count(self, who):
        with self.mu:
            self.rounds[who] += 1
            self.mu.notify_all()

    def let_others(self, who):
        """Until another kind of client has had a turn, or is late."""
        with self.mu:
            own, all_ = self.rounds[who], sum(self.rounds.values())
            self.mu.wait_for(lambda: sum(self.rounds.values()) - all_ >
                             self.rounds[who] - own, 0.005)


def by_dlock(room):
    while room.is_open():
        subprocess.run([os.environ["DLOCK_BIN"], "run", "-u", URI, "-w", "60",
                        NAME, "--", "sh", "-c", WORK, "sh", room.place],
                       check=True)
        room.count("dlock")


def by_redis_py(room):
    client = redis.Redis(port=PORT)
    while room.is_open():
        with client.lock(NAME, timeout=60, sleep=0.005):
            try:
                os.mkdir(room.place + "/in")
                for _ in range(10):
                    client.ping()
                os.rmdir(room.place + "/in")
            except FileExistsError:
                with open(room.place + "/overlaps", "a") as f:
                    f.write("overlap\n")
        room.count("redis-py")
        room.let_others("redis-py")


def node_redlock(room):
    """It ends with the rounds on a line of its output; None: it is not here."""
    script = HERE + "/foreign.js"
    if subprocess.run(["sh", "-c", "node -e 'require(\"redlock\"); "
                       "require(\"ioredis\")'"],
                      stderr=subprocess.DEVNULL).returncode != 0:
        return None
    return subprocess.Popen(["node", script, str(PORT), NAME, room.place,
                             str(SECONDS * SLOW)],
                            stdout=subprocess.PIPE, text=True)


def lines(path):
    return open(path).read().split() if os.path.exists(path) else []


def main():
    with tempfile.TemporaryDirectory() as place:
        room = Room(place)
        node = node_redlock(room)
        threads = [threading.Thread(target=call, args=(room,))
                   for call in (by_dlock, by_redis_py) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if node:
            room.rounds["node-redlock"] = int(node.communicate()[0])
        tokens = [int(t) for t in lines(place + "/tokens")]
        overlaps = len(lines(place + "/overlaps"))
        print(", ".join(f"{who}: {n} rounds"
                        for who, n in room.rounds.items()) +
              f"; {overlaps} overlaps; {len(tokens)} tokens")
        assert overlaps == 0, "two holders"
        assert tokens == sorted(set(tokens)), "a token fell"
        assert min(room.rounds.values()) >= 5, "somebody starved"
        assert not redis.Redis(port=PORT).exists(NAME), "left behind"


main()
