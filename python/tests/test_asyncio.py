# SPDX-License-Identifier: Apache-2.0
"""dlock.aio: tasks that wait for locks in an event loop."""
import asyncio
import gc
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock
import warnings

import dlock
import dlock.aio
from dlock._dlock import ffi, lib
from cases import Case, for_every_uri, short


def threads():
    return len(os.listdir("/proc/self/task"))


async def until(condition):
    end = time.monotonic() + 20
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("never came true")
        await asyncio.sleep(0.001)


async def upgrade(upgradeable):
    async with upgradeable.acquire() as reads:
        await upgradeable.upgrade(reads)


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


async def run_alone(lock, work):
    """As docs/python.md has it."""
    hold = await lock.acquire()
    loop, task = asyncio.get_running_loop(), asyncio.create_task(work)

    def lost():
        loop.remove_reader(hold.fileno())
        task.cancel()

    loop.add_reader(hold.fileno(), lost)
    try:
        return await task
    finally:
        loop.remove_reader(hold.fileno())
        await hold.release()


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
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await self.none_waits(store)

        self.none_dropped(main)

    def test_between_the_callback_and_the_task(self):
        async def main(store, mine):
            task = await self.granted(store, mine)
            store._process()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await self.none_waits(store)

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
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertFalse(hold.held)
            await self.none_waits(store)

        self.in_loop(main)


class Losses(AioCase):
    def test_end_a_task(self):
        async def main(store, mine):
            async def work():
                await mine.take_away()
                await asyncio.sleep(60)

            async def no_work():
                return "done"

            self.assertEqual(await run_alone(mine, no_work()), "done")
            with self.assertRaises(dlock.Lost):
                await run_alone(mine, work())

        self.in_loop(main)

    def test_end_a_block(self):
        async def main(store, mine):
            with self.assertRaises(dlock.Lost):
                async with mine.acquire() as hold:
                    lost, loop = asyncio.Event(), asyncio.get_running_loop()
                    loop.add_reader(hold.fileno(), lost.set)
                    await mine.take_away()
                    await lost.wait()
                    loop.remove_reader(hold.fileno())
                    self.assertRaises(dlock.Lost, hold.check)
            with self.assertRaises(ZeroDivisionError):
                async with mine.acquire():
                    await mine.take_away()
                    1 / 0

        self.in_loop(main)

    def test_on_event_is_in_the_loop(self):
        here, events = threading.get_ident(), []

        def on_event(hold, event, why):
            events.append((threading.get_ident(), hold, event))
            raise ZeroDivisionError

        async def main(store, mine):
            raised = []
            asyncio.get_running_loop().set_exception_handler(
                lambda loop, context: raised.append(context["exception"]))
            self.assertIs(await mine.take_away(), False)
            hold = await mine.acquire()
            self.assertIs(await mine.take_away(), True)
            await until(lambda: raised)
            self.assertEqual(events, [(here, hold, "lost")])
            self.assertIsInstance(raised[0], ZeroDivisionError)
            with self.assertRaises(dlock.Lost):
                await hold.release()
            with self.assertRaisesRegex(dlock.Invalid, "released before"):
                await hold.release()
            await (await mine.acquire(20)).release()  # it goes on

        self.in_loop(main, on_event=on_event)

    def test_holder_is_told_when_others_want_it(self):
        told = []

        async def main(store, mine):
            hold = await mine.acquire()
            if "WANTED" not in store.caps:
                with self.assertRaises(dlock.NotSupported):
                    await hold.revocable()
                await hold.release()
                return
            await hold.revocable()
            wanted, loop = asyncio.Event(), asyncio.get_running_loop()
            fd = await hold.wanted_fileno()
            loop.add_reader(fd, wanted.set)
            theirs = self.other.mutex(self.name, unbound=True)
            waiter = asyncio.create_task(
                asyncio.to_thread(theirs.acquire, 20))
            await wanted.wait()
            loop.remove_reader(fd)
            await until(lambda: told == ["wanted"])
            await hold.release()
            (await waiter).release()
            hold = await mine.acquire(20)
            await hold.revocable()
            await mine.revoke()
            await until(lambda: told == ["wanted"] * 2)
            await hold.release()

        self.in_loop(main, on_event=lambda *args: told.append(args[1]))

    def test_dropped_hold_is_released(self):
        async def main(store, mine):
            with self.assertWarnsRegex(ResourceWarning, self.name):
                await mine.acquire()
            await self.none_waits(store)

        self.in_loop(main)


class Ends(AioCase):
    def test_of_a_client_end_its_calls(self):
        async def main(store, mine):
            held = await store.mutex(self.name + "/held").acquire()
            with self.theirs:
                tasks = [asyncio.create_task(mine.acquire())
                         for _ in range(100)]
                await until(lambda: store.stats().waiters == 100)
                await asyncio.gather(store.close(), store.close())
                self.assertFalse(
                    asyncio.get_running_loop().remove_reader(store._fd))
                for t in tasks:
                    with self.assertRaises(dlock.Canceled):
                        await t
            self.assertFalse(held.held)
            with self.assertRaises(dlock.Lost):
                await held.release()
            with self.assertRaisesRegex(dlock.Canceled, "closed"):
                await mine.acquire()
            with self.assertRaisesRegex(dlock.Invalid, "closed"):
                store.mutex("x")
            self.assertIn("closed", repr(store))

        self.in_loop(main)

    def test_meet_a_grant(self):
        async def main(store, mine):
            await (await mine.acquire()).release()
            closing = asyncio.create_task(store.close())
            task = asyncio.create_task(mine.acquire())
            await asyncio.gather(closing, task, return_exceptions=True)
            self.assertIsInstance(task.exception(), dlock.Canceled)
            self.assertEqual(len(store._calls), 0)

        async def granted(store, mine):
            await (await mine.acquire()).release()
            task = asyncio.create_task(mine.acquire())
            await asyncio.sleep(0)
            self.assertTrue(select.select([store._fd], [], [], 20)[0])
            await store.close()
            with self.assertRaisesRegex(dlock.Canceled, "was closed"):
                await task

        self.in_loop(main)
        self.in_loop(granted)
        self.assert_free()

    def test_with_a_cancelled_task(self):
        async def main(store, mine):
            with self.theirs:
                task = asyncio.create_task(mine.acquire())
                await until(lambda: store.stats().waiters == 1)
                closing = asyncio.create_task(store.close())
                await asyncio.sleep(0)
                task.cancel()
                await closing
                with self.assertRaises(asyncio.CancelledError):
                    await task

        self.in_loop(main)
        self.assert_free()

    async def leave_open(self, box):
        store = await dlock.aio.Client(short(self.uri))
        box += [store, await store.mutex(self.name).acquire()]
        asyncio.create_task(store.mutex(self.name).acquire())
        await until(lambda: store.stats().waiters == 1)
        return store  # asyncio.run() cancels the task

    def test_of_the_loop_before_the_client(self):
        box = []
        store = asyncio.run(self.leave_open(box))
        with self.assertRaisesRegex(dlock.Invalid, "another event loop"):
            store.stats()
        self.assertIsNone(self.theirs.try_acquire())
        asyncio.run(store.close())
        self.assert_free()
        asyncio.run(store.close())
        with self.assertRaises(dlock.Lost):
            asyncio.run(box[1].release())

    def test_of_the_loop_during_the_close(self):
        """asyncio.run() cancels every task, and so the close."""
        async def begin():
            store = await dlock.aio.Client(short(self.uri))
            await store.mutex(self.name).acquire()
            asyncio.create_task(finish(store))
            await asyncio.sleep(0)
            return store

        async def finish(store):
            try:
                await store.close()
            finally:
                await store.close()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            store = asyncio.run(begin())
        asyncio.run(finish(store))
        self.assertTrue(store._client._is_closed())
        self.assert_free()

    def test_of_a_block_in_another_task(self):
        async def main(store, mine):
            async def begin(lock):
                return await lock.__aenter__()

            async def end(lock):
                await lock.__aexit__(None, None, None)

            async def in_a_task(step, lock):
                return await asyncio.create_task(step(lock))

            hold = await in_a_task(begin, mine)
            await in_a_task(end, mine)
            self.assertFalse(hold.held)
            permits = store.semaphore(self.name, 2)
            tasks = [asyncio.create_task(begin(permits)) for _ in range(2)]
            holds = [await task for task in tasks]
            with self.assertRaisesRegex(dlock.Invalid, "2 other tasks"):
                await in_a_task(end, permits)
            self.assertEqual([hold.held for hold in holds], [True, True])
            for hold in holds:
                await hold.release()
            with self.assertRaisesRegex(dlock.Invalid, "0 other tasks"):
                await in_a_task(end, mine)

        self.in_loop(main)
        self.assert_free()

    def test_of_all_references(self):
        box = []
        asyncio.run(self.leave_open(box))
        with self.assertWarnsRegex(ResourceWarning, "unclosed"):
            box.clear()
            gc.collect()
        self.assert_free()

    def test_of_an_open_that_fails(self):
        async def main():
            store = dlock.aio.Client("nostore://h")
            with self.assertRaisesRegex(dlock.Invalid, "nostore"):
                await store
            with self.assertRaisesRegex(dlock.Invalid, "not open"):
                store.mutex("x")
            with self.assertRaisesRegex(dlock.Invalid, "nostore"):
                await store
            await store.close()

        asyncio.run(main())

    def test_of_a_task_that_opens(self):
        """The client that is opened all the same is closed."""
        async def main():
            store = dlock.aio.Client(short(self.uri))
            task = asyncio.create_task(store._open())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            with self.assertRaisesRegex(dlock.Invalid, "not open"):
                store.mutex("x")
            await (await store.__aenter__()).close()

        before = set(dlock.client._open)
        asyncio.run(main())
        gc.collect()
        self.eventually(lambda: not set(dlock.client._open) - before)


    def test_of_a_task_that_opens_and_is_cancelled_twice(self):
        """The second one comes before the close has begun."""
        failed = []

        async def main():
            asyncio.get_running_loop().set_exception_handler(
                lambda loop, context: failed.append(context))
            store = dlock.aio.Client(short(self.uri))
            task = asyncio.create_task(store._open())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(store.close(), 20)
            await (await store.__aenter__()).close()

        before = set(dlock.client._open)
        with unittest.mock.patch("sys.unraisablehook", failed.append):
            asyncio.run(main())
        gc.collect()
        self.eventually(lambda: not set(dlock.client._open) - before)
        self.assertEqual(failed, [])

    def test_that_finds_no_thread_can_be_tried_again(self):
        """Until then the client is as before."""
        begin, left = lib.py_close_start, [1]

        def close_start(cell, *args):
            return begin(ffi.new("dlock_client *[2]") if left and left.pop()
                         else cell, *args)

        async def main(store, mine):
            with unittest.mock.patch("dlock.aio.client.lib",
                                     wraps=lib) as fake:
                fake.py_close_start = close_start
                with self.assertRaises(dlock.Invalid):
                    await store.close()
                hold = await mine.acquire()
                await hold.release()
                await store.close()
            self.assertTrue(store._client._is_closed())

        self.in_loop(main)
        self.assert_free()

    def test_of_an_open_that_the_loop_cannot_watch(self):
        async def main():
            store = dlock.aio.Client(short(self.uri))
            with unittest.mock.patch.object(
                    asyncio.get_running_loop(), "add_reader",
                    side_effect=OSError("no room")):
                with self.assertRaisesRegex(OSError, "no room"):
                    await store
            await asyncio.wait_for(store.close(), 20)
            await (await store.__aenter__()).close()

        before = set(dlock.client._open)
        asyncio.run(main())
        gc.collect()
        self.eventually(lambda: not set(dlock.client._open) - before)

    def test_of_an_open_without_a_descriptor(self):
        """There is no room for a thread of the loop's, either."""
        async def main():
            loop = asyncio.get_running_loop()
            store = dlock.aio.Client(short(self.uri))
            with unittest.mock.patch("dlock.aio.client.lib",
                                     wraps=lib) as fake, \
                    unittest.mock.patch.object(
                        loop, "run_in_executor",
                        side_effect=OSError("too many open files")):
                fake.dlock_client_fd.return_value = dlock.Exhausted.code
                with self.assertRaises(dlock.Exhausted):
                    await store
            opened = set(dlock.client._open) - before
            self.assertTrue(all(one._is_closed() for one in opened))
            await (await store.__aenter__()).close()

        before = set(dlock.client._open)
        asyncio.run(main())

    def test_of_the_loop_during_a_call_in_a_thread(self):
        over = threading.Event()

        async def begin():
            store = await dlock.aio.Client(short(self.uri))
            task = asyncio.create_task(store._in_thread(over.wait))
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return store

        loop = asyncio.new_event_loop()
        store = loop.run_until_complete(begin())
        loop.close()
        try:
            asyncio.run(asyncio.wait_for(store.close(), 20))
        finally:
            over.set()
        self.assertTrue(store._client._is_closed())


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

    def test_bad_input(self):
        async def main(store, mine):
            self.assertRaises(dlock.Invalid, store.mutex, "")
            with self.assertRaisesRegex(TypeError, "the name .* not bytes"):
                store.mutex(b"a")
            with self.assertRaises(TypeError):
                await mine.acquire(timeout="5")

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


class Example(Case):
    """examples/tasks.py does what its first lines say."""
    PROGRAM = os.path.join(os.path.dirname(__file__),
                           "../../examples/tasks.py")
    # Fails if another one of that name runs.
    ALONE = """#!/bin/sh
mkdir "at.$1" && ls -d at.* | wc -l >> seen && sleep 0.1 && rmdir "at.$1"
"""

    def start(self, *args, command="./alone"):
        return subprocess.Popen(
            [sys.executable, self.PROGRAM, args[0], command, *args[1:]],
            cwd=self.dir.name, env=dict(os.environ, DLOCK_URI=self.uri),
            stderr=subprocess.PIPE, text=True)

    def ends(self, program, status):
        said = program.communicate(timeout=60)[1]
        self.assertEqual(program.returncode, status, said)
        return said

    def setUp(self):
        super().setUp()
        self.dir = tempfile.TemporaryDirectory()
        path = os.path.join(self.dir.name, "alone")
        with open(path, "w", encoding="ascii") as f:
            f.write(self.ALONE)
        os.chmod(path, 0o755)

    def tearDown(self):
        self.dir.cleanup()
        super().tearDown()

    def seen(self):
        path = os.path.join(self.dir.name, "seen")
        with open(path, encoding="ascii") as f:
            return [int(line) for line in f]

    def test_runs_so_many_at_once(self):
        self.ends(self.start("2", *"abcde"), 0)
        self.assertEqual((len(self.seen()), max(self.seen())), (5, 2))

    def test_runs_none_twice_at_once(self):
        if "mem:" in self.uri:
            return  # of one process only
        programs = [self.start("3", "a", "b"), self.start("3", "b", "a")]
        for program in programs:
            self.ends(program, 0)
        self.assertEqual(len(self.seen()), 4)

    def test_failures(self):
        self.assertEqual(self.ends(
            self.start("1", "a", "b", command="./nothing"),
            os.EX_TEMPFAIL).count("nothing"), 2)
        self.ends(self.start("1", "a", command="false"), os.EX_TEMPFAIL)
        self.assertIn("usage", self.ends(self.start("1"), 1))

    def test_loss_ends_a_command(self):
        if "mem:" in self.uri:
            return
        program = self.start("1", "60", command="sleep")
        lock = self.other.mutex("60")
        self.eventually(lock.inspect)
        lock.take_away()
        self.assertIn("lost", self.ends(program, os.EX_TEMPFAIL))


class Multi(AioCase):
    """Locks of two clients, as one."""

    def in_loop(self, main, uri=None, **options):
        async def run(store, mine):
            async with dlock.aio.Client(uri or short(self.uri)) as second:
                both = dlock.aio.MultiLock([mine, second.mutex("second")])
                return await main(store, second, both)

        return super().in_loop(run, uri, **options)

    def test_all(self):
        async def main(store, second, both):
            other = self.other.mutex("second")
            for _ in range(3):
                async with both.acquire(timeout=20) as hold:
                    self.assertIsNone(self.theirs.try_acquire())
                    self.assertIsNone(other.try_acquire())
                    self.assertEqual(hold.token, 0)
                    self.assertTrue(hold.member(1).held)
                    self.assertIsNone(hold.member(2))
                self.theirs.acquire(timeout=0).release()
                other.acquire(timeout=0).release()

        self.in_loop(main)

    def test_read_side(self):
        async def main(store, second, _):
            reads = second.rwlock("second").use_read_side()
            theirs = self.other.rwlock("second")
            async with dlock.aio.MultiLock([store.mutex(self.name), reads]):
                self.assertIsNone(theirs.try_acquire())
                theirs.acquire_shared(5).release()

        self.in_loop(main)

    def test_none(self):
        async def main(store, second, both):
            with self.other.mutex("second"):
                self.assertIsNone(await both.try_acquire())
                self.assertIsNone(await both.try_acquire(0.05))
                self.theirs.acquire(timeout=0).release()
                waiter = asyncio.create_task(both.acquire())
                await until(lambda: second.stats().waiters == 1)
                waiter.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiter
                await self.none_waits(second)
            await (await both.acquire(timeout=20)).release()

        self.in_loop(main)
        self.assert_free()

    def test_ends_with_a_client(self):
        async def main(store, second, both):
            hold = await both.acquire()
            with self.assertRaises(dlock.Busy):
                await both.acquire(timeout=0)
            waiter = asyncio.create_task(both.acquire())
            await until(lambda: store.stats().waiters
                        + second.stats().waiters == 1)
            await second.close()
            with self.assertRaises(dlock.Canceled):
                await waiter
            with self.assertRaises(dlock.Canceled):
                await both.acquire()
            with self.assertRaises(dlock.Lost):
                await hold.release()
            self.theirs.acquire(timeout=0).release()

        self.in_loop(main)

    def test_bad(self):
        async def main(store, second, both):
            for bad in ([], [both], [store.mutex("a"), store.mutex("a")]):
                with self.assertRaises(dlock.Invalid):
                    dlock.aio.MultiLock(bad)

        self.in_loop(main)


load_tests = for_every_uri(Acquires, Cancels, Losses, Ends, Misuse, Multi,
                           Example)
