# SPDX-License-Identifier: Apache-2.0
"""A connection to one store, in an event loop."""
import asyncio
import warnings

import dlock.client
from dlock._dlock import ffi, lib
from dlock.aio.call import Call, running_loop
from dlock.aio.locks import Lock, Semaphore, SharedLock
from dlock.errors import Invalid, checked, keep, raise_kept, to_hook
from dlock.hold import Unique


@ffi.def_extern(error=0, onerror=keep)
def py_try_aio_event(*args):
    """A signal's handler may raise ahead of on_event, or behind it."""
    client = ffi.from_handle(args[-1]).on_event.__self__
    if not client._told:
        dlock.client.tell_event(*args)
    client._told = False
    return 1


class _Opening(dlock.client.Client):
    """Opened by `call`, without waiting."""
    _event = ffi.addressof(lib, "py_aio_event")

    def __init__(self, call, uri, no_threads=False, **options):
        self._call = call
        self._no_threads = no_threads
        super().__init__(uri, **options)

    def _open(self, uri, options):
        options.no_threads = bool(self._no_threads)
        self._call.begin(lib.dlock_open_start, uri, options, self._cell)


class _Closing(Call):
    def _end(self, rc, message):
        """The descriptor goes with the client, when this returns."""
        self.client._loop.remove_reader(self.client._fd)
        lib.py_closed(self.client._client._cell)
        super()._end(rc, message)


class Client(Unique):
    """A store, by its URI.  `async with` it, or await it and close it.

    It belongs to the event loop in which it was opened.  on_event(hold, event,
    why) and on_log(line) are called there; what on_event raises goes to the
    loop's exception handler.  `hold` is as in dlock.Client."""

    def __init__(self, uri, *, on_event=None, on_log=None, **options):
        """The options are those of dlock.Client, and no_threads: the loop does
        the work of dlock's threads, and waits for the store."""
        self._on_event = to_hook(on_event, "on_event")
        self._on_log = to_hook(on_log, "on_log")
        self._args = uri, options
        self._client = self._loop = self._closing = self._fd = None
        self._told = False    # an event, in its callback
        self._calls = set()   # whose callbacks are to come
        self._asking = set()  # futures of calls that a thread makes

    # ---- Opening and closing

    async def _open(self):
        if self._client is not None:
            raise Invalid("the client was opened before")
        self._loop = asyncio.get_running_loop()
        call = Call(self)
        uri, options = self._args
        client = _Opening(
            call, uri, **options,
            on_event=None if self._on_event is None else self._tell_event,
            on_log=None if self._on_log is None else self._tell_log)
        self._client, self._fd = client, None
        try:
            fd = checked(client._ask(lib.dlock_client_fd))
            self._loop.add_reader(fd, self._process)
            self._fd = fd
            checked(client._ask(lib.dlock_events_by_process))
            await call.result()
        except BaseException:
            call._drop()
            await self._give_up()
            raise
        return self

    async def _give_up(self):
        """It is not open, and may be opened again when it is closed.  The task
        may be cancelled once more before that."""
        self._closing = asyncio.ensure_future(self._close_anyhow())
        self._closing.add_done_callback(self._forget)
        await asyncio.shield(self._closing)

    async def _close_anyhow(self):
        """Without a thread for it, on this one."""
        try:
            await self._close()
        except Exception:
            if self._fd is not None:
                self._loop.remove_reader(self._fd)
            self._client.close()

    def _forget(self, closing):
        if not closing.cancelled():
            self._client = self._closing = None

    def __await__(self):
        return self._open().__await__()

    async def __aenter__(self):
        return await self._open()

    async def __aexit__(self, kind, value, trace):
        await self.close()

    async def close(self):
        """Release all holds, end all waits with Canceled.  Once its own loop is
        closed, any other may call this."""
        if self._client is None:
            return
        if not self._loop.is_closed():
            self._check_loop()
        if self._closing is None or (self._closing.cancelled() and
                                     self._loop.is_closed()):
            self._closing = asyncio.ensure_future(self._close())
            self._closing.add_done_callback(self._closed)
        if not self._closing.done():
            await asyncio.shield(self._closing)

    def _closed(self, closing):
        """After a failure the client is open, and may be closed again."""
        if not closing.cancelled() and closing.exception():
            self._closing = None

    async def _close(self):
        if self._fd is None or running_loop() is not self._loop:
            await asyncio.get_running_loop().run_in_executor(
                None, self._client.close)
            return
        if self._asking:
            await asyncio.wait(self._asking)
        call = _Closing(self)
        call.begin(lib.py_close_start, self._client._cell)
        await call.result()

    def __del__(self):
        if getattr(self, "_client", None) and not self._client._is_closed():
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self)

    # ---- What is allowed

    def _check_loop(self):
        if self._client is None:
            raise Invalid("the client is not open: use 'async with', or await "
                          "it")
        if running_loop() is not self._loop:
            raise Invalid("the client belongs to another event loop")

    def _check_open(self, error=Invalid):
        self._check_loop()
        if self._closing:
            raise error("the client is closed")

    # ---- What dlock calls

    def _process(self):
        cell = self._client._cell
        lib.dlock_process(cell[0] or cell[1], 0)
        raise_kept()

    def _tell_event(self, hold, event, why):
        self._told = True
        try:
            self._on_event(hold, event, why)
        except Exception as e:
            self._loop.call_exception_handler(
                {"message": f"an exception in on_event of {self!r}",
                 "exception": e})

    def _tell_log(self, line):
        """On a thread of dlock."""
        try:
            self._loop.call_soon_threadsafe(self._on_log, line)
        except RuntimeError:
            pass  # the loop is closed

    # ---- What a program calls

    async def _in_thread(self, call, *args):
        self._check_open()
        return await asyncio.shield(self._begin_in_thread(call, *args))

    def _begin_in_thread(self, call, *args):
        """close() waits for what has begun."""
        future = self._loop.run_in_executor(None, call, *args)
        self._asking.add(future)
        future.add_done_callback(self._asked)
        return future

    def _asked(self, future):
        self._asking.discard(future)
        if not future.cancelled():
            future.exception()  # the task may have been cancelled

    def _opened(self):
        self._check_open()
        return self._client

    def mutex(self, name, *, sticky_cancel=False):
        """One holder.  sticky_cancel: as in dlock.Client.mutex()."""
        return Lock(self, self._opened().mutex(
            name, unbound=True, sticky_cancel=sticky_cancel))

    def rwlock(self, name, *, sticky_cancel=False):
        """One writer or many readers."""
        return SharedLock(self, self._opened().rwlock(
            name, unbound=True, sticky_cancel=sticky_cancel))

    def semaphore(self, name, permits, *, sticky_cancel=False):
        """`permits` holders."""
        return Semaphore(self, self._opened().semaphore(
            name, permits, sticky_cancel=sticky_cancel))

    async def list(self, timeout=5):
        """The locks that the store knows."""
        return await self._in_thread(self._opened().list, timeout)

    def stats(self):
        """As dlock.Client.stats()."""
        return self._opened().stats()

    @property
    def caps(self):
        """The names of the store's capabilities."""
        return self._opened().caps

    @property
    def uri(self):
        """As the library read it, without its password."""
        return self._opened().uri

    @property
    def ttl(self):
        """The lease in seconds; None if holds do not expire."""
        return self._opened().ttl

    @property
    def linger(self):
        """For how many seconds longer a dead holder's lock may be taken."""
        return self._opened().linger

    def __repr__(self):
        state = "not open" if self._client is None else repr(self._client)
        return f"<dlock.aio.Client: {state}>"
