# SPDX-License-Identifier: Apache-2.0
"""dlock.aio: the loss of a hold, and holders that are asked to give up."""
import asyncio
import sys
import threading
import unittest

import dlock
import dlock.aio
from aio_cases import AioCase, until
from cases import for_every_uri


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

    def test_on_event_may_end_the_program(self):
        async def main(store, mine):
            async with mine.acquire():
                await mine.take_away()
                await asyncio.sleep(60)

        with self.assertRaises(SystemExit):
            self.in_loop(main, on_event=lambda *_: sys.exit(7))

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


class Releases(unittest.TestCase):
    """The store is slow, and the loop goes on."""

    def in_loop(self, main):
        async def run():
            async with dlock.aio.Client("mem://slow?delay=500ms") as store:
                await main(store, store.mutex(self.id()))

        asyncio.run(asyncio.wait_for(run(), 60))

    async def turns_of(self, task):
        """Those of the loop until `task` is done."""
        turns = 0
        while not task.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    async def asked(self, mine):
        """A hold, and a task that asks the store about it."""
        hold = await mine.acquire()
        asking = asyncio.create_task(hold.wanted_fileno())
        await until(lambda: hold._asking)
        return hold, asking

    def test_beside_a_question(self):
        async def main(store, mine):
            hold, asking = await self.asked(mine)
            releasing = asyncio.create_task(hold.release())
            await asyncio.sleep(0)
            self.assertFalse(hold.held)
            for call in hold.release, hold.__aenter__:
                with self.assertRaisesRegex(dlock.Invalid, "before"):
                    await call()
            self.assertIsNone(await hold.__aexit__(None, None, None))
            self.assertGreater(await self.turns_of(asking), 20)
            await releasing

        self.in_loop(main)

    def test_beside_a_question_goes_on_without_its_task(self):
        async def main(store, mine):
            hold, asking = await self.asked(mine)
            releasing = asyncio.create_task(hold.release())
            await asyncio.sleep(0)
            releasing.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await releasing
            self.assertGreater(await self.turns_of(asking), 20)
            await (await mine.acquire(20)).release()

        self.in_loop(main)

    def test_beside_a_question_and_a_close(self):
        async def main(store, mine):
            hold, asking = await self.asked(mine)
            releasing = asyncio.create_task(hold.release())
            await asyncio.sleep(0)
            closing = asyncio.create_task(store.close())
            self.assertGreater(await self.turns_of(asking), 20)
            await releasing
            await closing

        self.in_loop(main)

    def test_behind_the_close_of_a_member(self):
        async def main(store, mine):
            other = await dlock.aio.Client("mem:")
            lock = dlock.aio.MultiLock([mine, other.mutex(self.id())])
            hold = await lock.acquire()
            await other.close()
            releasing = asyncio.create_task(hold.release())
            self.assertGreater(await self.turns_of(releasing), 20)
            with self.assertRaises(dlock.Lost):
                await releasing
            await (await mine.acquire(20)).release()

        self.in_loop(main)


load_tests = for_every_uri(Losses, once=(Releases,))
