# SPDX-License-Identifier: Apache-2.0
"""dlock.aio: a signal's handler raises, at any place."""
import asyncio
import gc
import select
import signal
import unittest.mock
import warnings

import dlock
import dlock.aio
from aio_cases import AioCase, until
from cases import for_every_uri, short

Hold = dlock.aio.Hold


class Signals(AioCase):
    def setUp(self):
        super().setUp()
        self.loop = asyncio.new_event_loop()
        self.aio = self.run_loop(dlock.aio.Client(short(self.uri)))

    def tearDown(self):
        self.run_loop(self.aio.close())
        self.loop.close()
        super().tearDown()

    def run_loop(self, awaitable):
        return self.loop.run_until_complete(awaitable)

    async def acquire(self):
        return await self.aio.mutex(self.name).acquire()

    def task(self):
        return self.loop.create_task(self.acquire())

    def interrupt(self, task, where, name, before, times=1):
        """... before or behind what is called `name`, `times` in a row."""
        function, armed = getattr(where, name), [1] * times

        def handler(*_):
            raise KeyboardInterrupt

        def called(*args):
            for at in before, not before:
                if not at:
                    got = function(*args)
                elif armed:
                    armed.pop()
                    signal.raise_signal(signal.SIGALRM)
            return got

        old = signal.signal(signal.SIGALRM, handler)
        try:
            with unittest.mock.patch.object(where, name, called):
                self.assertRaises(KeyboardInterrupt, self.run_loop,
                                  asyncio.wait([task], timeout=20))
        finally:
            signal.signal(signal.SIGALRM, old)

    def test_in_a_callback_leave_the_hold_to_the_task(self):
        places = ((dlock.aio.call, "text"), (Hold, "_take"),
                  (Hold, "_identify"), (dlock.aio.call.Call, "_end"))
        for before, times in (True, 1), (False, 1), (True, 2), (False, 2):
            for where, name in places:
                task = self.task()
                self.interrupt(task, where, name, before, times)
                hold = self.run_loop(asyncio.wait_for(task, 20))
                self.assertTrue(hold.held)
                self.run_loop(hold.release())

    def test_in_a_callback_leave_no_hold_of_a_cancelled_task(self):
        for before in True, False:
            task = self.task()
            self.loop.remove_reader(self.aio._fd)
            self.run_loop(asyncio.sleep(0))  # it asks
            self.assertTrue(select.select([self.aio._fd], [], [], 20)[0])
            self.loop.add_reader(self.aio._fd, self.aio._process)
            call, = self.aio._calls
            task.cancel()
            function, abandoned = Hold._abandon, []

            def abandon(hold):
                abandoned.append(hold._c.now)
                function(hold)

            with unittest.mock.patch.object(Hold, "_abandon", abandon):
                self.interrupt(task, Hold, "_abandon", before)
            self.assertEqual(sum(map(bool, abandoned)), 1)  # not NULL
            self.assertTrue(call._hold._is_over())
            self.assert_free()

    async def lose(self, store, events):
        hold = await store.mutex(self.name).acquire()
        await hold._lock.take_away()
        await until(lambda: events)
        with self.assertRaises(dlock.Lost):
            await hold.release()

    def test_in_an_event_leave_it_told_once(self):
        events = []
        store = self.run_loop(dlock.aio.Client(
            short(self.uri), on_event=lambda hold, event, _: events.append(
                event)))
        for name, before in ("known", True), ("tell_event", False):
            task = self.loop.create_task(self.lose(store, events))
            self.interrupt(task, dlock.client, name, before, 2)
            self.run_loop(asyncio.wait_for(task, 20))
            self.assertEqual(events, ["lost"])
            events.clear()
        self.run_loop(store.close())

    def test_behind_the_begin_leave_no_hold(self):
        task = self.task()
        self.interrupt(task, dlock.aio.call, "checked", True)
        self.assertIsInstance(task.exception(), KeyboardInterrupt)
        del task
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            self.run_loop(until(lambda: not self.aio._calls))
            gc.collect()
            self.run_loop(self.none_waits(self.aio))
        self.assert_free()


load_tests = for_every_uri(Signals)
