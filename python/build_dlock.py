# SPDX-License-Identifier: Apache-2.0
"""What of dlock.h the package calls, for cffi: checked against the header by
the C compiler."""
import os
import shlex
import subprocess

import cffi


def flags(what):
    text = subprocess.run(["pkg-config", what, "dlock"], check=True,
                          capture_output=True, text=True).stdout
    return shlex.split(text)


ffi = cffi.FFI()
if "DLOCK_INCLUDE" in os.environ:
    how = {"include_dirs": [os.environ["DLOCK_INCLUDE"]],
           "library_dirs": [os.environ["DLOCK_LIBDIR"]],
           "libraries": ["dlock"]}
else:
    how = {"extra_compile_args": flags("--cflags"),
           "extra_link_args": flags("--libs")}
# What must be one step for a signal handler, which may raise between any two of
# Python, also in __del__, where that would be ignored.
STRUCTS = """
struct py_hold {
	dlock_hold *now;  /* can be asked */
	dlock_hold *left; /* on its way out */
	dlock_hold *going; /* in dlock_release() */
	char name[300];
	int in_loop;      /* is released without waiting */
	int taken;        /* `now` was set, and may be NULL again */
	int upgrades;     /* calls of dlock_upgrade() that may use `now` */
};
"""
ffi.set_source("dlock._dlock", "#include <dlock/async.h>" + STRUCTS + """
static int py_try_done(const struct dlock_result *, void *);
static void py_forget(void *);
static int py_try_aio_event(dlock_hold *, enum dlock_event, const char *,
			    void *);

/* A signal's handler may raise in a callback, which is called again then.  What
 * raises so often is no handler. */
#define UNTIL_DONE(call) \\
	for (int n = 0; n < 100 && !(call); n++) \\
		;

static void py_done(const struct dlock_result *result, void *arg)
{
	UNTIL_DONE(py_try_done(result, arg))
	py_forget(arg);
}

static void py_aio_event(dlock_hold *hold, enum dlock_event event,
			 const char *why, void *arg)
{
	UNTIL_DONE(py_try_aio_event(hold, event, why, arg))
}

/* Once. */
static void py_take(struct py_hold *h, dlock_hold *hold)
{
	if (!h->taken)
		h->now = hold;
	h->taken = 1;
}

/* 0: it is being upgraded, and stays. */
static int py_leave_hold(struct py_hold *h)
{
	dlock_hold *hold = __atomic_exchange_n(&h->now, NULL, __ATOMIC_SEQ_CST);

	if (hold && __atomic_load_n(&h->upgrades, __ATOMIC_SEQ_CST)) {
		h->now = hold;
		return 0;
	}
	if (hold)
		h->left = hold;
	return 1;
}

static int py_upgrade(dlock_lock *lock, struct py_hold *h, int64_t timeout_ms,
		      dlock_hold **out)
{
	int rc;

	__atomic_fetch_add(&h->upgrades, 1, __ATOMIC_SEQ_CST);
	rc = dlock_upgrade(lock, __atomic_load_n(&h->now, __ATOMIC_SEQ_CST),
			   timeout_ms, out);
	__atomic_fetch_sub(&h->upgrades, 1, __ATOMIC_SEQ_CST);
	return rc;
}

static int py_release(struct py_hold *h)
{
	dlock_hold *hold = __atomic_exchange_n(&h->left, NULL,
					       __ATOMIC_SEQ_CST);
	int rc;

	if (hold)
		h->going = hold;
	rc = dlock_release(hold);
	if (hold)
		h->going = NULL;
	/* The hold is unchanged; without a hold, another thread has it. */
	if (hold && (rc == DLOCK_EINVAL || rc == DLOCK_EFORKED))
		h->now = hold;
	return rc;
}

static int py_release_start(struct py_hold *h, dlock_done_fn done, void *arg)
{
	dlock_hold *hold = h->left;
	int rc = dlock_release_start(hold, done, arg);

	h->left = NULL;
	if (rc < 0)
		h->now = hold;
	return rc;
}

/* Nobody hears how that ends. */
static int py_let_go(struct py_hold *h)
{
	py_leave_hold(h);
	if (h->in_loop && py_release_start(h, NULL, NULL) == DLOCK_OK)
		return DLOCK_OK;
	py_leave_hold(h);
	return py_release(h);
}

/* Nothing refers to it any more. */
static void py_drop(struct py_hold *h)
{
	const char *text = "the lock '%s' was released because nothing "
			   "refers to its hold any more";
	PyGILState_STATE state;
	int rc;

	if (!h->now && !h->left)
		return;
	rc = py_let_go(h);
	if (rc == DLOCK_EFORKED)
		return;
	if (rc == DLOCK_EINVAL)
		text = "the lock '%s' stays held until its client is closed: "
		       "nothing refers to its hold any more, and only the "
		       "thread that acquired it can release it";
	state = PyGILState_Ensure();
	if (PyErr_WarnFormat(PyExc_ResourceWarning, 1, text, h->name) < 0)
		PyErr_WriteUnraisable(NULL);
	PyGILState_Release(state);
}

static void py_leave_client(dlock_client **cell)
{
	if (cell[0]) {
		cell[1] = cell[0];
		cell[0] = NULL;
	}
}

static void py_close(dlock_client **cell)
{
	dlock_close(__atomic_exchange_n(&cell[1], NULL, __ATOMIC_SEQ_CST));
}

/* py_close() closes it as well, until `done` has called py_closed().  A failure
 * leaves the client unchanged. */
static int py_close_start(dlock_client **cell, dlock_done_fn done, void *arg)
{
	int rc = dlock_close_start(cell[0], done, arg);

	if (rc == DLOCK_OK)
		py_leave_client(cell);
	return rc;
}

static void py_closed(dlock_client **cell)
{
	cell[1] = NULL;
}
""", **how)
ffi.cdef("""
typedef struct dlock_client dlock_client;
typedef struct dlock_lock dlock_lock;
typedef struct dlock_hold dlock_hold;
typedef uint64_t dlock_op;
enum dlock_event { DLOCK_AT_RISK, ... };
#define DLOCK_NAME_SIZE ...
struct dlock_result {
	int code;
	dlock_client *client;
	dlock_hold *hold;
	const char *message;
	...;
};
typedef void (*dlock_done_fn)(const struct dlock_result *result, void *arg);
""" + STRUCTS + """
struct dlock_log_line {
	int level;
	int code;
	const char *text;
	const char *lock;
	const char *label;
	const char *uri;
	...;
};
typedef struct dlock_options {
	size_t size;
	uint32_t require;
	const char *label;
	void (*on_event)(dlock_hold *hold, enum dlock_event event,
			 const char *why, void *arg);
	void (*on_log)(const struct dlock_log_line *line, void *arg);
	void *arg;
	const char *password;
	int no_threads;
	...;
} dlock_options;
typedef struct dlock_acquire_options {
	size_t size;
	int64_t timeout_ms;
	int shared;
	int64_t lease_ms;
	int64_t max_hold_ms;
	int no_renew;
	const char *label;
	uint32_t permits;
	...;
} dlock_acquire_options;
struct dlock_participant {
	size_t size;
	const char *label;
	const char *id;
	uint64_t token;
	int64_t remaining_ms;
	int shared;
	int waiting;
	int64_t since_ms;
	uint32_t permits;
	uint32_t limit;
	...;
};
struct dlock_permits {
	size_t size;
	uint32_t limit;
	uint32_t held;
	uint32_t free;
	...;
};
struct dlock_lock_info {
	size_t size;
	const char *name;
	const char *kind;
	uint32_t permits;
	...;
};
struct dlock_times {
	uint64_t count;
	uint64_t sum_us;
	uint64_t bucket[...];
	...;
};
struct dlock_stats {
	size_t size;
	uint64_t asked;
	uint64_t granted;
	uint64_t busy;
	uint64_t attempts;
	uint64_t wakes;
	uint64_t polls;
	uint64_t released;
	uint64_t lost;
	uint64_t renewed;
	uint64_t renew_failed;
	uint64_t renew_late;
	uint64_t holds;
	uint64_t waiters;
	uint64_t pending_cleanups;
	struct dlock_times wait;
	struct dlock_times hold;
	struct dlock_times renewal_lag;
	uint64_t passed;
	uint64_t retaken;
	uint64_t kept;
	...;
};
int dlock_open(dlock_client **out, const char *uri, const dlock_options *o);
uint32_t dlock_caps(const dlock_client *client);
const char *dlock_cap_name(uint32_t bit);
int64_t dlock_ttl_ms(const dlock_client *client);
int64_t dlock_linger_ms(const dlock_client *client);
const char *dlock_uri(const dlock_client *client);
int dlock_mutex_new(dlock_lock **out, dlock_client *client, const char *name);
int dlock_rwlock_new(dlock_lock **out, dlock_client *client, const char *name);
int dlock_semaphore_new(dlock_lock **out, dlock_client *client,
			const char *name, uint32_t permits);
int dlock_multi_new(dlock_lock **out, dlock_lock *const *members, size_t n);
int dlock_upgradeable_new(dlock_lock **out, dlock_lock *rwlock);
int dlock_lock_use_read_side(dlock_lock *lock);
int dlock_lock_unbind(dlock_lock *lock);
int dlock_lock_sticky_cancel(dlock_lock *lock);
int dlock_lock_held(dlock_lock *lock);
int dlock_name_make(char *out, const void *bytes, size_t len);
void dlock_lock_free(dlock_lock *lock);
int dlock_acquire(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out);
int dlock_acquire_shared(dlock_lock *lock, int64_t timeout_ms,
			 dlock_hold **out);
int dlock_acquire_opts(dlock_lock *lock, const dlock_acquire_options *opts,
		       dlock_hold **out);
int dlock_acquire_opts_start(dlock_lock *lock,
			     const dlock_acquire_options *opts,
			     dlock_done_fn done, void *arg, dlock_op *op);
int dlock_extend(dlock_hold *hold, int64_t ms);
int dlock_acquire_start(dlock_lock *lock, int64_t timeout_ms,
			dlock_done_fn done, void *arg, dlock_op *op);
int dlock_acquire_shared_start(dlock_lock *lock, int64_t timeout_ms,
			       dlock_done_fn done, void *arg, dlock_op *op);
int dlock_upgrade_start(dlock_lock *lock, dlock_hold *upgradeable,
			int64_t timeout_ms, dlock_done_fn done, void *arg,
			dlock_op *op);
int dlock_cancel_op(dlock_client *client, dlock_op op);
int dlock_client_fd(dlock_client *client);
int dlock_process(dlock_client *client, int most);
int dlock_events_by_process(dlock_client *client);
int dlock_open_start(const char *uri, const dlock_options *opts,
		     dlock_client **out, dlock_done_fn done, void *arg);
int dlock_release(dlock_hold *hold);
void dlock_cancel(dlock_lock *lock);
int dlock_check(const dlock_hold *hold);
int64_t dlock_remaining_ms(const dlock_hold *hold);
int64_t dlock_warning_ms(const dlock_hold *hold);
uint64_t dlock_token(const dlock_hold *hold);
dlock_hold *dlock_member(const dlock_hold *hold, size_t i);
int dlock_hold_fd(dlock_hold *hold);
int dlock_inspect(dlock_lock *lock,
		  void (*each)(const struct dlock_participant *p, void *arg),
		  void *arg, int64_t timeout_ms);
int dlock_semaphore_permits(dlock_lock *lock, struct dlock_permits *out,
			    int64_t timeout_ms);
int dlock_semaphore_resize(dlock_lock *lock, uint32_t permits,
			   int64_t timeout_ms);
int dlock_revocable(dlock_hold *hold);
int dlock_wanted_fd(dlock_hold *hold);
int dlock_revoke(dlock_lock *lock, int64_t timeout_ms);
int dlock_break(dlock_lock *lock, int64_t timeout_ms);
int dlock_list(dlock_client *client,
	       void (*each)(const struct dlock_lock_info *entry, void *arg),
	       void *arg, int64_t timeout_ms);
int dlock_get_stats(dlock_client *client, struct dlock_stats *out);
const char *dlock_errname(int code);
const char *dlock_errmsg(void);
const char *dlock_version(void);

void py_done(const struct dlock_result *, void *);
void py_aio_event(dlock_hold *, enum dlock_event, const char *, void *);
void py_take(struct py_hold *h, dlock_hold *hold);
int py_leave_hold(struct py_hold *h);
int py_upgrade(dlock_lock *lock, struct py_hold *h, int64_t timeout_ms,
	       dlock_hold **out);
int py_release(struct py_hold *h);
int py_release_start(struct py_hold *h, dlock_done_fn done, void *arg);
int py_let_go(struct py_hold *h);
void py_drop(struct py_hold *h);
void py_leave_client(dlock_client **cell);
void py_close(dlock_client **cell);
int py_close_start(dlock_client **cell, dlock_done_fn done, void *arg);
void py_closed(dlock_client **cell);

extern "Python" void py_event(dlock_hold *, enum dlock_event, const char *,
			      void *);
extern "Python" int py_try_aio_event(dlock_hold *, enum dlock_event,
				     const char *, void *);
extern "Python" int py_try_done(const struct dlock_result *, void *);
extern "Python" void py_forget(void *);
extern "Python" void py_log(const struct dlock_log_line *, void *);
extern "Python" void py_participant(const struct dlock_participant *, void *);
extern "Python" void py_lock(const struct dlock_lock_info *, void *);
""")

if __name__ == "__main__":
    ffi.compile(verbose=True)
