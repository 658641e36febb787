# SPDX-License-Identifier: Apache-2.0
"""dlock.aio: the end of a client, of a task or of the loop."""
import asyncio
import gc
import select
import subprocess
import sys
import threading
import unittest.mock
import warnings

import dlock
import dlock.aio
from dlock._dlock import ffi, lib
from aio_cases import AioCase, until
from cases import for_every_uri, short


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

    def test_of_the_program_with_a_task_that_waits(self):
        program = """
import asyncio, dlock.aio, sys

async def begin():
    store = await dlock.aio.Client(sys.argv[1])
    lock = store.mutex(sys.argv[2])
    hold = await lock.acquire()
    task = asyncio.create_task(lock.acquire())
    await asyncio.sleep(0)
    return task, hold

loop = asyncio.new_event_loop()
kept = loop.run_until_complete(begin())
"""
        done = subprocess.run(
            [sys.executable, "-c", program, self.uri, self.name],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Exception ignored", done.stderr)
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


load_tests = for_every_uri(Ends)
