#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tasks.py N COMMAND NAME... - run COMMAND with every NAME, each under the lock
of that name and in a task of its own, and at most N at once.  The loss of a
lock ends its command, and so does Ctrl-C, before the lock is free."""
import asyncio
import contextlib
import os
import sys

import dlock.aio


async def run(lock, command):
    """Under the lock: the exit status."""
    loop = asyncio.get_running_loop()
    async with lock.acquire() as hold:
        process = await asyncio.create_subprocess_exec(command, lock.name)

        def end():
            loop.remove_reader(hold.fileno())
            with contextlib.suppress(ProcessLookupError):  # just ended
                process.terminate()

        loop.add_reader(hold.fileno(), end)  # once the lock is lost
        try:
            return await process.wait()
        except asyncio.CancelledError:
            end()
            await process.wait()
            raise
        finally:
            loop.remove_reader(hold.fileno())


async def job(at_once, lock, command):
    async with at_once:
        try:
            return await run(lock, command)
        except (dlock.Error, OSError) as e:
            print(f"{lock.name}: {e}", file=sys.stderr)
            return 1


async def main(limit, command, *names):
    at_once = asyncio.Semaphore(int(limit))
    async with dlock.aio.Client(os.environ["DLOCK_URI"]) as store:
        ended = await asyncio.gather(*(
            job(at_once, store.mutex(name), command) for name in names))
    return os.EX_TEMPFAIL if any(ended) else 0


if len(sys.argv) < 4 or "DLOCK_URI" not in os.environ:
    sys.exit("usage: DLOCK_URI=... tasks.py N COMMAND NAME...")
sys.exit(asyncio.run(main(*sys.argv[1:])))
