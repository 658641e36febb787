# SPDX-License-Identifier: Apache-2.0
"""dlock.aio: a cancel of a task, a call or a handle."""
import asyncio
import gc
import select
import time
import warnings

import dlock
import dlock.aio
from aio_cases import AioCase, until
from cases import for_every_uri


async def upgrade(upgradeable):
    async with upgradeable.acquire() as reads:
        await upgradeable.upgrade(reads)


class Cancels(AioCase):
    def test_of_a_task_ends_its_wait(self):
        async def main(store, mine):
            with self.theirs:
                tasks = [asyncio.create_task(mine.acquire())
                         for _ in range(3)]
                await until(lambda: store.stats().waiters == 3)
                for t in tasks:
                    t.cancel()
                for t in tasks:
                    with self.assertRaises(asyncio.CancelledError):
                        await t
                await self.none_waits(store)
                await until(lambda: not store._calls)

        self.in_loop(main)
        self.assert_free()

    async def cancel(self, store, task):
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await self.none_waits(store)

    async def granted(self, store, mine):
        """A task whose callback is due, and has not been called."""
        await (await mine.acquire()).release()
        task = asyncio.create_task(mine.acquire())
        await asyncio.sleep(0)  # it asks
        self.assertTrue(select.select([store._fd], [], [], 20)[0])
        self.assertEqual(store.stats().holds, 1)
        return task

    def none_dropped(self, main):
        """... to be released by the garbage collector."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.in_loop(main)
            gc.collect()
        self.assertEqual([str(w.message) for w in told
                          if self.name in str(w.message)], [])
        self.assert_free()

    def test_before_the_callback_of_a_grant(self):
        async def main(store, mine):
            task = await self.granted(store, mine)
            await self.cancel(store, task)

        self.none_dropped(main)

    def test_between_the_callback_and_the_task(self):
        async def main(store, mine):
            task = await self.granted(store, mine)
            store._process()
            await self.cancel(store, task)

        self.none_dropped(main)

    def in_upgrade(self, main):
        """main(store, rwlock, upgradeable)"""
        async def run(store, mine):
            if "UPGRADE" in store.caps:
                rw = store.rwlock(self.name)
                await main(store, rw, dlock.aio.Upgradeable(rw))
                await self.none_waits(store)

        self.none_dropped(run)

    def test_of_an_upgrade(self):
        """The end of the block releases the read side behind the upgrade."""
        async def main(store, rw, upgradeable):
            async with rw.acquire_shared():
                for again in False, True:
                    task = asyncio.create_task(upgrade(upgradeable))
                    await until(lambda: store.stats().waiters == 1)
                    task.cancel()
                    await asyncio.sleep(0)
                    if again:  # in the release
                        task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task
                    async with upgradeable.acquire(20):
                        pass

        self.in_upgrade(main)

    def test_before_the_callback_of_an_upgrade(self):
        """The callback comes between the cancel and the task."""
        async def main(store, rw, upgradeable):
            hold = await rw.acquire_shared()
            task = asyncio.create_task(upgrade(upgradeable))
            await until(lambda: store.stats().waiters == 1)
            release = asyncio.create_task(hold.release())
            await asyncio.sleep(0)  # it begins
            # Both members of the read side, and the write side.
            self.eventually(lambda: store.stats().holds == 3
                            and store.stats().waiters == 0)
            self.assertTrue(select.select([store._fd], [], [], 20)[0])
            task.cancel()
            store._process()
            with self.assertRaises(asyncio.CancelledError):
                await asyncio.wait_for(task, 20)
            await release

        self.in_upgrade(main)

    def test_of_the_release_of_an_upgrade(self):
        async def main(store, rw, upgradeable):
            async def work():
                async with upgradeable.acquire() as reads:
                    async with upgradeable.upgrade(reads):
                        began.set()

            for _ in range(20):
                began = asyncio.Event()
                task = asyncio.create_task(work())
                await began.wait()
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                async with upgradeable.acquire(20):
                    pass

        self.in_upgrade(main)

    def test_at_any_moment_leaves_nothing_held(self):
        async def main(store, mine):
            ended = {True: 0, False: 0}

            async def work():
                async with mine:
                    await asyncio.sleep(0)

            end = time.monotonic() + 1
            n = 0
            while time.monotonic() < end or 0 in ended.values():
                tasks = [asyncio.create_task(work()) for _ in range(3)]
                n += 1
                for _ in range(n % 17):
                    await asyncio.sleep(0)
                if n % 3:
                    await asyncio.sleep(n % 7 * 1e-4)
                for t in tasks[n % 2:]:
                    t.cancel()
                await asyncio.wait(tasks)
                for t in tasks:
                    ended[t.cancelled()] += 1
            await self.none_waits(store)

        self.none_dropped(main)

    def test_of_a_handle(self):
        async def main(store, mine):
            with self.theirs:
                task = asyncio.create_task(mine.acquire())
                await until(lambda: store.stats().waiters == 1)
                mine.cancel()
                with self.assertRaises(dlock.Canceled):
                    await task

        self.in_loop(main)

    def test_before_the_wait(self):
        async def main(store, mine):
            lock = store.mutex(self.name, sticky_cancel=True)
            lock.cancel()
            with self.assertRaises(dlock.Canceled):
                await lock.acquire()
            async with lock:
                self.assertEqual(lock.held, 1)
            self.assertEqual(lock.held, 0)

        self.in_loop(main)

    def test_of_a_release_leaves_it_going_on(self):
        async def main(store, mine):
            hold = await mine.acquire()
            task = asyncio.create_task(hold.release())
            await asyncio.sleep(0)
            await self.cancel(store, task)
            self.assertFalse(hold.held)

        self.in_loop(main)


load_tests = for_every_uri(Cancels)
