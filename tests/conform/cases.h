/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of cases. A store without a required capability skips the case.
 * Each capability of a store must be named here.
 */
#ifndef DLOCK_TESTS_CONFORM_CASES_H
#define DLOCK_TESTS_CONFORM_CASES_H

#include <stddef.h>

#include "conform/conform.h"

#define NONE 0
#define SHARED DLOCK_CAP_SHARED
#define COUNT DLOCK_CAP_COUNT
#define FENCE DLOCK_CAP_FENCE

#define CONFORM_CASES(X)                                                       \
	/* exclusion.c */                                                      \
	X(exclusion_everybody, NONE)                                           \
	X(exclusion_rwlock, SHARED)                                            \
	X(exclusion_upgrade, DLOCK_CAP_UPGRADE)                                \
	X(exclusion_semaphore, COUNT)                                          \
	X(exclusion_despite_deaths, DLOCK_CAP_CONSISTENT)                      \
	X(exclusion_of_sides_despite_deaths,                                   \
	  DLOCK_CAP_CONSISTENT | DLOCK_CAP_UPGRADE)                            \
	X(exclusion_remote, DLOCK_CAP_REMOTE)                                  \
	/* mutex.c */                                                          \
	X(mutex_try, NONE)                                                     \
	X(mutex_tries_at_once, NONE)                                           \
	X(mutex_reentry, NONE)                                                 \
	X(mutex_handle_outlived, NONE)                                         \
	X(mutex_foreign_release, NONE)                                         \
	X(mutex_unbound, NONE)                                                 \
	/* waiting.c */                                                        \
	X(wait_ends_in_time, NONE)                                             \
	X(wait_reader_ends_in_time, SHARED)                                    \
	X(wait_permit_ends_in_time, COUNT)                                     \
	X(wait_is_granted, NONE)                                               \
	X(wait_leaves_the_line, NONE)                                          \
	X(wait_fair, DLOCK_CAP_FAIR)                                           \
	X(wait_outlasts_lease, DLOCK_CAP_FAIR)                                 \
	/* wake.c */                                                           \
	X(wake_costs_little, DLOCK_CAP_WAKE)                                   \
	X(wake_by_release, DLOCK_CAP_WAKE)                                     \
	X(wake_one_of_many, DLOCK_CAP_WAKE)                                    \
	X(wake_never_missed, DLOCK_CAP_WAKE)                                   \
	X(wake_readers, DLOCK_CAP_WAKE | SHARED)                               \
	X(wake_permits, DLOCK_CAP_WAKE | COUNT)                                \
	/* cancel.c */                                                         \
	X(cancel_wait, NONE)                                                   \
	X(cancel_one_handle, NONE)                                             \
	X(cancel_sticky, NONE)                                                 \
	X(cancel_sticky_ends_all, NONE)                                        \
	/* held.c */                                                           \
	X(held_by_this_thread, NONE)                                           \
	X(held_on_both_sides, SHARED)                                          \
	X(held_by_the_client, COUNT)                                           \
	X(held_several_permits, COUNT | DLOCK_CAP_PERMITS)                     \
	X(held_was_lost, NONE)                                                 \
	/* async.c */                                                          \
	X(async_among_threads, NONE)                                           \
	X(async_is_cancelled, NONE)                                            \
	X(async_cancel_meets_grant, NONE)                                      \
	X(async_many, NONE)                                                    \
	X(async_release_behind_an_upgrade, DLOCK_CAP_UPGRADE)                  \
	/* loop.c */                                                           \
	X(loop_descriptor, NONE)                                               \
	X(loop_due_before, NONE)                                               \
	X(loop_edge_triggered, NONE)                                           \
	X(loop_one_at_a_time, NONE)                                            \
	X(loop_nudge, NONE)                                                    \
	X(loop_wait, NONE)                                                     \
	X(loop_two_threads, NONE)                                              \
	X(loop_refused_edge, NONE)                                             \
	X(loop_forked, NONE)                                                   \
	/* callback.c */                                                       \
	X(callback_may_call, NONE)                                             \
	X(callback_closes, NONE)                                               \
	X(callback_frees, NONE)                                                \
	X(many_at_close, NONE)                                                 \
	X(begun_inspect, DLOCK_CAP_INSPECT)                                    \
	X(begun_break, NONE)                                                   \
	X(loop_events, NONE)                                                   \
	X(begun_open, NONE)                                                    \
	X(begun_open_and_close, NONE)                                          \
	/* revoke.c */                                                         \
	X(revoke_tells_the_holder, DLOCK_CAP_WANTED)                           \
	X(revoke_tells_once, DLOCK_CAP_WANTED)                                 \
	X(revoke_tells_late, DLOCK_CAP_WANTED)                                 \
	X(revoke_tells_after_leases, DLOCK_CAP_WANTED)                         \
	X(revoke_tells_nobody_else, DLOCK_CAP_WANTED)                          \
	X(revoke_and_passes, DLOCK_CAP_WANTED)                                 \
	X(revoke_of_a_reader, DLOCK_CAP_WANTED | SHARED)                       \
	X(revoke_of_permits, DLOCK_CAP_REVOKE_PERMITS)                         \
	X(revoke_of_several_permits,                                           \
	  DLOCK_CAP_REVOKE_PERMITS | DLOCK_CAP_PERMITS)                        \
	X(revoke_of_a_full_semaphore, DLOCK_CAP_REVOKE_PERMITS)                \
	X(revoke_of_many_permits, DLOCK_CAP_REVOKE_PERMITS)                    \
	X(revoke_of_permits_refused, COUNT)                                    \
	/* wanted.c */                                                         \
	X(wanted_kept_is_taken_again, DLOCK_CAP_WANTED)                        \
	X(wanted_kept_is_given_up, DLOCK_CAP_WANTED)                           \
	X(wanted_by_a_try, DLOCK_CAP_WANTED)                                   \
	X(wanted_kept_at_close, DLOCK_CAP_WANTED)                              \
	X(wanted_kept_at_death, DLOCK_CAP_WANTED | DLOCK_CAP_EXPIRE)           \
	X(wanted_by_a_reader, DLOCK_CAP_WANTED | SHARED)                       \
	X(wanted_passes, DLOCK_CAP_WANTED)                                     \
	X(wanted_starves_nobody, DLOCK_CAP_WANTED)                             \
	/* opts.c */                                                           \
	X(opts_no_renew, NONE)                                                 \
	X(opts_lease, NONE)                                                    \
	X(opts_label, DLOCK_CAP_INSPECT)                                       \
	X(opts_long_label, DLOCK_CAP_INSPECT)                                  \
	X(opts_readers, SHARED)                                                \
	X(opts_permits, COUNT)                                                 \
	/* rwlock.c */                                                         \
	X(rwlock_readers_share, SHARED)                                        \
	X(rwlock_writer_excludes, SHARED)                                      \
	X(rwlock_writer_waits, SHARED)                                         \
	X(rwlock_writer_not_starved, SHARED)                                   \
	X(rwlock_read_again, SHARED)                                           \
	X(rwlock_upgrade, SHARED)                                              \
	X(rwlock_downgrade, SHARED)                                            \
	X(rwlock_downgrade_token, SHARED | DLOCK_CAP_FENCE | DLOCK_CAP_WANTED) \
	X(rwlock_both_sides, SHARED)                                           \
	/* upgrade.c */                                                        \
	X(upgrade_excludes, DLOCK_CAP_UPGRADE)                                 \
	X(upgrade_one_at_a_time, DLOCK_CAP_UPGRADE)                            \
	X(upgrade_waits_for_readers, DLOCK_CAP_UPGRADE)                        \
	X(upgrade_before_a_writer, DLOCK_CAP_UPGRADE)                          \
	X(upgrade_not_starved, DLOCK_CAP_UPGRADE)                              \
	X(upgrade_gives_up, DLOCK_CAP_UPGRADE)                                 \
	X(upgrade_is_cancelled, DLOCK_CAP_UPGRADE)                             \
	X(upgrade_again, DLOCK_CAP_UPGRADE)                                    \
	X(upgrade_to_plain_reader, DLOCK_CAP_UPGRADE)                          \
	X(upgrade_deadlock, DLOCK_CAP_UPGRADE)                                 \
	/* upgrade_end.c */                                                    \
	X(upgrade_is_renewed, DLOCK_CAP_UPGRADE)                               \
	X(upgrade_death, DLOCK_CAP_UPGRADE | DLOCK_CAP_EXPIRE)                 \
	X(upgrade_death_of_waiter, DLOCK_CAP_UPGRADE)                          \
	X(upgrade_broken, DLOCK_CAP_UPGRADE)                                   \
	X(upgrade_at_close, DLOCK_CAP_UPGRADE)                                 \
	X(upgrade_inspect, DLOCK_CAP_UPGRADE | DLOCK_CAP_INSPECT)              \
	/* semaphore.c */                                                      \
	X(semaphore_permits, COUNT)                                            \
	X(semaphore_wait, COUNT)                                               \
	X(semaphore_mismatch, COUNT)                                           \
	X(semaphore_many, COUNT)                                               \
	X(semaphore_several, COUNT | DLOCK_CAP_PERMITS)                        \
	X(semaphore_several_wait, COUNT | DLOCK_CAP_PERMITS)                   \
	X(semaphore_several_in_turn, COUNT | DLOCK_CAP_PERMITS)                \
	X(semaphore_several_give_up, COUNT | DLOCK_CAP_PERMITS)                \
	X(semaphore_several_too_many,                                          \
	  COUNT | DLOCK_CAP_PERMITS | DLOCK_CAP_RESIZE)                        \
	/* permits.c */                                                        \
	X(semaphore_count, COUNT | DLOCK_CAP_INSPECT)                          \
	X(semaphore_grows, COUNT | DLOCK_CAP_RESIZE)                           \
	X(semaphore_shrinks, COUNT | DLOCK_CAP_RESIZE)                         \
	X(semaphore_set_for_all, COUNT | DLOCK_CAP_RESIZE)                     \
	/* multi.c */                                                          \
	X(multi_none, NONE)                                                    \
	X(multi_one_deadline, NONE)                                            \
	X(multi_opposite, NONE)                                                \
	X(multi_member_order, DLOCK_CAP_INSPECT | FENCE)                       \
	X(multi_again, NONE)                                                   \
	X(multi_lost, NONE)                                                    \
	X(multi_read_sides, SHARED)                                            \
	/* mixed.c */                                                          \
	X(multi_two_stores, NONE)                                              \
	X(multi_kinds, SHARED | COUNT)                                         \
	/* multi_async.c */                                                    \
	X(begun_multi_is_left, NONE)                                           \
	X(begun_multi_is_cancelled, NONE)                                      \
	X(begun_multi_at_close, NONE)                                          \
	X(begun_multi_many, NONE)                                              \
	/* names.c */                                                          \
	X(names_odd, NONE)                                                     \
	X(names_kinds, SHARED | COUNT)                                         \
	X(names_meet, SHARED)                                                  \
	X(names_prefix, NONE)                                                  \
	X(names_prefix_break, NONE)                                            \
	/* token.c */                                                          \
	X(token_rises, FENCE)                                                  \
	X(token_readers, FENCE | SHARED)                                       \
	X(token_permit, FENCE | COUNT)                                         \
	X(token_reopen, FENCE)                                                 \
	X(token_durable, DLOCK_CAP_FENCE_DURABLE)                              \
	X(token_zero, NONE)                                                    \
	/* death.c */                                                          \
	X(death_of_holder, DLOCK_CAP_EXPIRE)                                   \
	X(death_of_waiter, NONE)                                               \
	X(death_of_reader, DLOCK_CAP_EXPIRE | SHARED)                          \
	X(death_of_permit, DLOCK_CAP_EXPIRE | COUNT)                           \
	X(death_with_child, DLOCK_CAP_EXPIRE)                                  \
	X(death_of_thread, NONE)                                               \
	X(pause_of_holder, NONE)                                               \
	X(durable_hold, DLOCK_CAP_DURABLE)                                     \
	/* lease.c */                                                          \
	X(lease_is_renewed, NONE)                                              \
	X(lease_max_hold, NONE)                                                \
	X(lease_lost_reentry, NONE)                                            \
	X(lease_no_late_event, NONE)                                           \
	X(lease_fd, NONE)                                                      \
	/* break.c */                                                          \
	X(break_is_learnt, NONE)                                               \
	X(break_wakes, NONE)                                                   \
	X(break_of_free, NONE)                                                 \
	X(break_other_process, NONE)                                           \
	X(break_readers, SHARED)                                               \
	X(break_permits, COUNT)                                                \
	X(break_seen_by_release, NONE)                                         \
	/* inspect.c */                                                        \
	X(inspect_line, DLOCK_CAP_INSPECT)                                     \
	X(inspect_readers, DLOCK_CAP_INSPECT | SHARED)                         \
	X(inspect_busy, DLOCK_CAP_INSPECT)                                     \
	X(inspect_busy_readers, DLOCK_CAP_INSPECT | SHARED)                    \
	X(inspect_other_process, DLOCK_CAP_INSPECT)                            \
	X(list_kinds, DLOCK_CAP_LIST | SHARED | COUNT)                         \
	X(list_once, DLOCK_CAP_LIST | SHARED)                                  \
	/* leftover.c */                                                       \
	X(leftover_waits, NONE)                                                \
	X(leftover_holds, NONE)                                                \
	/* close.c */                                                          \
	X(close_with_hold, NONE)                                               \
	X(close_hands_over, NONE)                                              \
	X(close_with_waiter, NONE)                                             \
	X(close_by_process, NONE)                                              \
	/* fork.c */                                                           \
	X(fork_child_refused, NONE)                                            \
	X(fork_child_exits, NONE)                                              \
	X(fork_child_lives, NONE)                                              \
	X(fork_child_opens, NONE)                                              \
	X(fork_while_busy, NONE)                                               \
	/* threads.c */                                                        \
	X(threads_are_shared, NONE)                                            \
	/* no_threads.c */                                                     \
	X(no_threads_at_all, DLOCK_CAP_NO_THREADS)                             \
	X(no_threads_descriptors, DLOCK_CAP_NO_THREADS)                        \
	X(no_threads_closed_at_once, DLOCK_CAP_NO_THREADS)                     \
	X(no_threads_closed_with_waits, DLOCK_CAP_NO_THREADS)                  \
	X(no_threads_closed_in_callback, DLOCK_CAP_NO_THREADS)                 \
	X(no_threads_ticks, DLOCK_CAP_NO_THREADS)                              \
	X(no_threads_renews, DLOCK_CAP_NO_THREADS)                             \
	X(no_threads_stalls, DLOCK_CAP_NO_THREADS)                             \
	/* no_threads_waits.c */                                               \
	X(no_threads_two_wait, DLOCK_CAP_NO_THREADS)                           \
	X(no_threads_multi_closed, DLOCK_CAP_NO_THREADS)                       \
	X(no_threads_multi_released, DLOCK_CAP_NO_THREADS)                     \
	X(no_threads_result, DLOCK_CAP_NO_THREADS)                             \
	/* signals.c */                                                        \
	X(signals_storm, NONE)                                                 \
	X(signals_blocked, NONE)                                               \
	X(thread_cancelled, NONE)                                              \
	/* trace.c */                                                          \
	X(errno_kept, NONE)                                                    \
	X(descriptors_close_on_exec, NONE)                                     \
	/* promise.c */                                                        \
	X(promise_required, NONE)                                              \
	X(promise_covered, NONE)                                               \
	X(promise_table, NONE)                                                 \
	X(stats_count, NONE)

struct conform_case {
	const char *name;
	uint32_t needs;
	void (*run)(struct conform *t);
};

extern const struct conform_case conform_cases[];
extern const size_t n_conform_cases;

#define X(name, needs) void case_##name(struct conform *t);
CONFORM_CASES(X)
#undef X

#endif
