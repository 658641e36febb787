# SPDX-License-Identifier: Apache-2.0
"""What the tests of dlock.aio share."""
import asyncio
import time

import dlock.aio
from cases import Case, short


async def until(condition):
    end = time.monotonic() + 20
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("never came true")
        await asyncio.sleep(0.001)


class AioCase(Case):
    """`mine` is a lock in a loop; `theirs` belongs to another client."""

    def in_loop(self, main, uri=None, **options):
        uri = uri or short(self.uri)

        async def run():
            async with dlock.aio.Client(uri, **options) as store:
                return await main(store, store.mutex(self.name))

        return asyncio.run(asyncio.wait_for(run(), 60))

    def assert_free(self):
        """What was cancelled may still be on its way out."""
        self.theirs.acquire(timeout=20).release()

    async def none_waits(self, store):
        await until(lambda: store.stats().waiters == 0)
        await until(lambda: store.stats().holds == 0)
