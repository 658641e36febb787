# SPDX-License-Identifier: Apache-2.0
"""dlock.aio: tasks that wait for locks in an event loop."""
import asyncio
import copy
import os
import threading
import time

import dlock
import dlock.aio
from aio_cases import AioCase, until
from cases import for_every_uri


def threads():
    return len(os.listdir("/proc/self/task"))


class Acquires(AioCase):
    def test_ways(self):
        async def main(store, mine):
            hold = await mine.acquire()
            first = hold.token
            self.assertTrue(hold.held)
            self.assertIn(self.name, repr(hold))
            hold.check()
            self.assertIsNone(self.theirs.try_acquire())
            await hold.release()
            self.assertFalse(hold.held)
            with self.assertRaisesRegex(dlock.Invalid, "released before"):
                await hold.release()
            with self.assertRaisesRegex(dlock.Invalid, "released before"):
                async with hold:
                    self.fail("a block without the lock")
            async with mine.acquire(timeout=5) as hold:
                self.assertGreater(hold.token, first)
                self.assertIsNone(await mine.try_acquire())
                self.assertIsNone(self.theirs.try_acquire())
            async with mine as hold:
                self.assertTrue(hold.held)
            async with await mine.acquire() as hold:
                await hold.release()
            self.theirs.acquire(timeout=0).release()

        self.in_loop(main)

    def test_waits_for_another_client(self):
        async def main(store, mine):
            hold = self.theirs.acquire()
            waiter = asyncio.create_task(mine.acquire(timeout=20))
            await until(lambda: store.stats().waiters == 1)
            self.assertFalse(waiter.done())
            hold.release()
            await (await waiter).release()

        self.in_loop(main)

    def test_options_of_the_hold(self):
        async def main(store, mine):
            hold = await mine.acquire(5, max_hold=0.2, label="a label")
            hold.extend(20)
            self.assertIsNone(await mine.try_acquire(label="x"))
            hold.extend(0.05)
            async with mine.acquire(20):
                self.assertFalse(hold.held)
            with self.assertRaises(dlock.Lost):
                await hold.release()
            shared = store.rwlock(self.name)
            async with shared.acquire_shared(5, max_hold=20) as hold:
                self.assertLessEqual(hold.remaining, 20)

        self.in_loop(main)

    def test_busy(self):
        async def main(store, mine):
            with self.theirs:
                begin = time.monotonic()
                with self.assertRaises(dlock.TimedOut):
                    await mine.acquire(timeout=0.1)
                self.assertGreaterEqual(time.monotonic() - begin, 0.1)
                with self.assertRaises(dlock.Busy) as e:
                    await mine.acquire(timeout=0)
                self.assertNotIsInstance(e.exception, TimeoutError)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(mine.acquire(), 0.1)
                await self.none_waits(store)

        self.in_loop(main)
        self.assert_free()

    def test_tasks_exclude_each_other(self):
        count = [0]

        async def main(store, mine):
            async def work():
                for _ in range(10):
                    async with mine:
                        n = count[0]
                        await asyncio.sleep(0)
                        count[0] = n + 1

            await asyncio.gather(*(work() for _ in range(4)))

        self.in_loop(main)
        self.assertEqual(count, [40])

    def test_upgrade(self):
        async def main(store, mine):
            rw = store.rwlock(self.name)
            if "UPGRADE" not in store.caps:
                self.assertRaises(dlock.NotSupported, dlock.aio.Upgradeable,
                                  rw)
                return
            upgradeable = dlock.aio.Upgradeable(rw)
            async with upgradeable.acquire(5) as reads:
                async with rw.acquire_shared(5):
                    self.assertIsNone(await upgradeable.try_upgrade(reads))
                    with self.assertRaises(dlock.TimedOut):
                        await upgradeable.upgrade(reads, 0.02)
                    waits = asyncio.ensure_future(upgradeable.upgrade(reads))
                    await until(lambda: store.stats().waiters == 1)
                    with self.assertRaises(dlock.Invalid):
                        await reads.release()
                async with await waits as writes:
                    self.assertGreater(writes.token, reads.token)
                    self.assertIsNone(await rw.try_acquire_shared())
                    self.assertTrue(reads.held)
                async with rw.acquire_shared(5):
                    waits = asyncio.ensure_future(upgradeable.upgrade(reads))
                    await until(lambda: store.stats().waiters == 1)
                    waits.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await waits
                    await until(lambda: store.stats().waiters == 0)
                async with upgradeable.upgrade(reads, 5):
                    pass
            with self.assertRaises(dlock.Invalid):
                await upgradeable.upgrade(reads)

        self.in_loop(main)
        self.assert_free()

    def test_readers_and_permits(self):
        async def main(store, mine):
            rw = store.rwlock(self.name)
            one, two = await asyncio.gather(rw.acquire_shared(5),
                                            rw.acquire_shared(5))
            self.assertIsNone(await rw.try_acquire())
            await one.release()
            await two.release()
            async with rw.acquire(5):
                self.assertIsNone(await rw.try_acquire_shared())
            permits = store.semaphore(self.name, 2)
            self.assertEqual((await permits.permits()).free, 2)
            one, two = await permits.acquire(5), await permits.acquire(5)
            self.assertIsNone(await permits.try_acquire())
            if "RESIZE" in store.caps:
                await permits.resize(3)
                await (await permits.try_acquire()).release()
                await permits.resize(2)
            self.assertIsNone(await permits.try_acquire(permits=1))
            await one.release()
            await two.release()
            if "PERMITS" in store.caps:
                async with permits.acquire(5, permits=2):
                    self.assertIsNone(await permits.try_acquire())

        self.in_loop(main)

    def test_a_thousand_wait(self):
        """... in their order where the store has one, without a thread each,
        and the loop goes on meanwhile.  With a short lease a busy machine
        could not ask for all of them often enough to keep their places."""
        async def main(store, mine):
            order, ticks = [], [0]

            async def work(number):
                async with mine:
                    order.append(number)

            async def tick():
                while True:
                    ticks[0] += 1
                    await asyncio.sleep(0.001)

            await (await mine.acquire()).release()
            before, names = threads(), set(threading.enumerate())
            hold = theirs.acquire()
            ticker = asyncio.create_task(tick())
            tasks = [asyncio.create_task(work(i)) for i in range(1000)]
            await until(lambda: store.stats().waiters == 1000)
            self.assertLessEqual(threads(), before + 1)
            self.assertEqual(set(threading.enumerate()), names)
            self.assertEqual(order, [])
            ticks[0] = 0
            hold.release()
            await asyncio.gather(*tasks)
            self.assertEqual(sorted(order), list(range(1000)))
            if "FAIR" in store.caps:
                self.assertEqual(order, sorted(order))
            self.assertGreater(ticks[0], 0)
            self.assertEqual(len(store._calls), 0)
            ticker.cancel()

        with dlock.Client(self.uri) as other:
            theirs = other.mutex(self.name)
            self.in_loop(main, self.uri)
        self.assert_free()

    def test_without_threads(self):
        async def main(store, mine):
            before = threads()
            hold = await mine.acquire()
            waiter = asyncio.create_task(mine.acquire(timeout=20))
            await until(lambda: store.stats().waiters == 1)
            await asyncio.sleep(2 * (store.ttl or 0))
            self.assertTrue(hold.held)
            self.assertIsNone(self.theirs.try_acquire())
            await hold.release()
            await (await waiter).release()
            self.assertEqual(threads(), before)

        self.in_loop(main, no_threads=True)
        self.assert_free()

    def test_reports(self):
        async def main(store, mine):
            async with mine as hold:
                found = await mine.inspect()
                self.assertEqual([(p.label, p.token) for p in found],
                                 [("a label", hold.token)])
                if "LIST" in store.caps:
                    self.assertIn(self.name,
                                  [e.name for e in await store.list()])
                self.assertEqual(store.stats().holds, 1)
                self.assertEqual(hold.remaining is None, store.ttl is None)
                self.assertEqual(store.caps, self.store.caps)
                self.assertIn(store.uri, repr(store))
                self.assertGreaterEqual(store.linger, 0)

        self.in_loop(main, label="a label")


class Misuse(AioCase):
    def test_in_another_loop(self):
        async def main(store, mine):
            hold = await mine.acquire()

            async def elsewhere():
                for call in (mine.acquire, hold.release, store.close,
                             mine.inspect):
                    with self.assertRaisesRegex(dlock.Invalid,
                                                "another event loop"):
                        await call()
                with self.assertRaisesRegex(dlock.Invalid, "loop"):
                    store.mutex("x")

            await asyncio.to_thread(asyncio.run, elsewhere())
            await asyncio.to_thread(self.assertRaises, dlock.Invalid,
                                    store.mutex, "x")
            self.assertTrue(hold.held)
            await hold.release()

        self.in_loop(main)

    def test_opened_twice(self):
        async def main(store, mine):
            with self.assertRaisesRegex(dlock.Invalid, "opened before"):
                await store

        self.in_loop(main)

    def test_tasks_have_names_of_their_calls(self):
        async def main(store, mine):
            task = asyncio.create_task(mine.acquire())
            self.assertIn("Lock._acquire", repr(task))
            await (await task).release()

        self.in_loop(main)

    def test_bad_input(self):
        async def main(store, mine):
            self.assertRaises(dlock.Invalid, store.mutex, "")
            with self.assertRaisesRegex(TypeError, "the name .* not bytes"):
                store.mutex(b"a")
            with self.assertRaises(TypeError):
                await mine.acquire(timeout="5")
            with self.assertRaisesRegex(TypeError, "cannot be copied"):
                copy.copy(mine)

        self.in_loop(main)

    def test_nobody_awaits_the_acquire(self):
        async def main(store, mine):
            with self.assertWarnsRegex(RuntimeWarning, "never awaited"):
                mine.acquire()

        self.in_loop(main)

    def test_log_comes_in_the_loop(self):
        here, lines = threading.get_ident(), []

        def on_log(line):
            lines.append((threading.get_ident(), line.lock))

        async def main():
            async with dlock.aio.Client("mem:?fail=1",
                                        on_log=on_log) as store:
                with self.assertRaises(dlock.Unreachable):
                    await store.mutex("a").acquire(0)
                await until(lambda: lines)

        asyncio.run(main())
        self.assertEqual(lines, [(here, "a")])


load_tests = for_every_uri(Acquires, Misuse)
