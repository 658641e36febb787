# SPDX-License-Identifier: Apache-2.0
"""Handles of locks, for tasks."""
import asyncio
from collections.abc import Coroutine

import dlock.locks
from dlock._dlock import lib
from dlock.aio.call import Call
from dlock.aio.hold import Hold
from dlock.errors import Busy, Canceled, Invalid, of_type, to_ms
from dlock.hold import HoldRef, Unique
from dlock.locks import with_options

LOCK = "a lock of a dlock.aio.Client"


class Acquiring(Coroutine):
    """To await, to make a task of, or to use with `async with`."""

    def __init__(self, coroutine):
        self._coroutine = coroutine
        self._hold = None
        self.__name__ = coroutine.__name__  # for repr() of a task
        self.__qualname__ = coroutine.__qualname__

    def __await__(self):
        return self._coroutine.__await__()

    def send(self, value):
        return self._coroutine.send(value)

    def throw(self, *exception):
        return self._coroutine.throw(*exception)

    def close(self):
        self._coroutine.close()

    async def __aenter__(self):
        self._hold = await self._coroutine
        return self._hold

    async def __aexit__(self, kind, value, trace):
        return await self._hold.__aexit__(kind, value, trace)


class Lock(Unique):
    """What every kind of lock can do.  Tasks may share one.

    `async with lock:` acquires for this task and releases at the end; several
    tasks may do so with the same object.  A block may end in another task if
    no block of a third task is open: else the end raises Invalid."""

    _n_members = 0

    def __init__(self, client, lock):
        self._client = client
        self._clients = {client}  # of a multi-lock: its members'
        self._lock = lock
        self._mine = {}
        self.name = lock.name

    def acquire(self, timeout=None, **options):
        """Await a Hold, in `timeout` seconds; None waits for ever.  Raises
        Busy; TimedOut unless the timeout is 0.  `async with
        lock.acquire(5) as hold:` also releases it.  The options are those of
        dlock.Lock.acquire()."""
        return Acquiring(
            self._acquire(lib.dlock_acquire_start, timeout, options))

    async def try_acquire(self, timeout=0, **options):
        """As acquire(), but None if others hold the lock."""
        try:
            return await self.acquire(timeout, **options)
        except Busy:
            return None

    async def _acquire(self, function, timeout, options, shared=False,
                       beside=None):
        if options:
            function = with_options(lib.dlock_acquire_opts_start, shared,
                                    **options)
        for client in self._clients:
            client._check_open(Canceled)
        call = Call(self._client, Hold(self, beside))
        call.acquire(function, self._lock._raw, to_ms(timeout))
        return await call.result()

    def cancel(self):
        """End the waits that are under way with Canceled; with sticky_cancel
        the next one, if there is none."""
        for client in self._clients:
            client._check_open()
        self._lock.cancel()

    @property
    def held(self):
        """How often the client's tasks hold it: dlock_lock_held()."""
        self._client._check_open()
        return self._lock.held

    async def inspect(self, timeout=5):
        """The participants, as the store sees them now."""
        return await self._client._in_thread(self._lock.inspect, timeout)

    async def revoke(self, timeout=5):
        """dlock_revoke(): ask its holder to give it up."""
        await self._client._in_thread(self._lock.revoke, timeout)

    async def take_away(self, timeout=5):
        """As dlock.Lock.take_away()."""
        return await self._client._in_thread(self._lock.take_away, timeout)

    def __repr__(self):
        return f"<dlock.aio.{type(self).__name__} '{self.name}'>"

    async def __aenter__(self):
        hold = await self.acquire()
        self._mine.setdefault(asyncio.current_task(), []).append(hold)
        return hold

    async def __aexit__(self, kind, value, trace):
        task = asyncio.current_task()
        if task not in self._mine:
            if len(self._mine) != 1:
                raise Invalid(
                    f"the lock '{self.name}': `async with` ends in a task "
                    f"without a block, and {len(self._mine)} other tasks have "
                    "blocks: use `async with lock.acquire()`")
            task = next(iter(self._mine))
        hold = self._mine[task].pop()
        if not self._mine[task]:
            del self._mine[task]
        return await hold.__aexit__(kind, value, trace)


class SharedLock(Lock):
    """A read-write lock; acquire() takes the write side."""

    def use_read_side(self):
        """As dlock.SharedLock.use_read_side()."""
        self._client._check_open()
        self._lock.use_read_side()
        return self

    def acquire_shared(self, timeout=None, **options):
        return Acquiring(self._acquire(lib.dlock_acquire_shared_start, timeout,
                                       options, True))

    async def try_acquire_shared(self, timeout=0, **options):
        try:
            return await self.acquire_shared(timeout, **options)
        except Busy:
            return None


class Upgradeable(Lock):
    """The upgradeable read side of a SharedLock: acquire() takes that side, and
    upgrade() adds the write side."""

    _n_members = 2

    def __init__(self, lock, *, sticky_cancel=False):
        of_type(lock, Lock, "the lock of an Upgradeable", LOCK)
        super().__init__(lock._client, dlock.locks.Upgradeable(
            lock._lock, sticky_cancel=sticky_cancel))

    def upgrade(self, hold, timeout=None):
        """Await the write side, beside `hold`, as a Hold: dlock_upgrade().
        Release the result first.  The rest is as for acquire()."""
        return Acquiring(self._upgrade(hold, timeout))

    async def try_upgrade(self, hold, timeout=0):
        """As upgrade(), but None if plain readers hold the lock."""
        try:
            return await self.upgrade(hold, timeout)
        except Busy:
            return None

    async def _upgrade(self, hold, timeout):
        of_type(hold, HoldRef, "the hold of an upgrade", "a Hold")

        def function(raw, ms, done, arg, op):
            return lib.dlock_upgrade_start(raw, hold._c.now, ms, done, arg, op)

        return await self._acquire(function, timeout, {}, beside=hold)


class Semaphore(Lock):
    """Many holders: each has a permit."""

    async def permits(self, timeout=5):
        """As dlock.Semaphore.permits()."""
        return await self._client._in_thread(self._lock.permits, timeout)

    async def resize(self, permits, timeout=5):
        """dlock_semaphore_resize()."""
        await self._client._in_thread(self._lock.resize, permits, timeout)


class MultiLock(Lock):
    """All of many locks, of any clients in one event loop, or none.  No task
    holds some of them while it waits for another."""

    def __init__(self, locks, *, sticky_cancel=False):
        locks = list(locks)
        lock = dlock.locks.MultiLock(
            (of_type(one, Lock, "a member", LOCK)._lock for one in locks),
            sticky_cancel=sticky_cancel)
        clients = [one._client for one in locks]
        super().__init__(clients[0], lock)
        self._clients = set(clients)
        self._n_members = len(locks)
        if len({client._loop for client in clients}) > 1:
            raise Invalid("the locks belong to several event loops")
