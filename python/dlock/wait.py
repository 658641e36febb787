# SPDX-License-Identifier: Apache-2.0
"""Waiting in C so that Ctrl-C and other signal handlers still run."""
import os
import select
import signal
import threading

from dlock.errors import Exhausted


class Signals:
    """While the main thread waits in C, Python runs no signal handler.  This
    notices signals by the wake-up descriptor and calls `cancel` until the wait
    has ended; the handlers run as soon as it has, and may raise anywhere: call
    stop() twice, the second time in a `finally` of the first."""

    def __init__(self, cancel):
        self.came = False
        self._cancel = cancel
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._read = self._write = self._old = -1
        self._set = False

    def start(self):
        try:
            self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as e:
            raise Exhausted(f"a pipe for signals: {e.strerror}") from e
        self._set = True
        self._old = signal.set_wakeup_fd(self._write,
                                         warn_on_full_buffer=False)
        try:
            self._thread.start()
        except RuntimeError as e:
            raise Exhausted(f"a thread for signals: {e}") from e

    def _watch(self):
        signals = select.poll()
        signals.register(self._read, select.POLLIN)
        signals.poll()
        while not self._end.is_set():
            self.came = True
            self._cancel()
            self._end.wait(0.01)

    def stop(self):
        if self._read < 0:
            return
        if self._set:
            signal.set_wakeup_fd(self._old)
            self._set = False
        self._end.set()
        if self._thread.is_alive():
            os.write(self._write, b"\0")
            self._thread.join()
        self._forward()
        read, self._read = self._read, -1
        os.close(read)
        os.close(self._write)

    def _forward(self):
        """What came meanwhile is also for whoever had the descriptor."""
        try:
            data = os.read(self._read, 4096).rstrip(b"\0")
            if data and self._old >= 0:
                os.write(self._old, data)
        except BlockingIOError:
            pass
