/* SPDX-License-Identifier: Apache-2.0 */
/* The stage of a play: clients, and the handles of locks.  For want of memory,
 * each is made again. */
#ifndef DLOCK_SIM_PROCESS_STAGE_H
#define DLOCK_SIM_PROCESS_STAGE_H

#include "sim/process/caller.h"

/* Fail, unless `call` returned DLOCK_OK. */
void sim_stage_must(const char *call, int rc);

/* Make a handle of the n-th client's, of the name; `loose`: unbound. */
dlock_lock *sim_stage_lock(struct sim_play *p, size_t client, size_t name,
			   int loose);

/* The same for any client. */
dlock_lock *sim_stage_lock_of(const struct sim_play *p, dlock_client *c,
			      size_t name, int loose);

/* Make a handle whose acquires take the read side; NULL: not of this lock, or
 * not in this play. */
dlock_lock *sim_stage_reading(struct sim_play *p, size_t client, size_t name);

/* NULL: not of this lock, or not with this store. */
dlock_lock *sim_stage_upgradeable(struct sim_play *p, dlock_lock *of,
				  size_t name);

/* Get the URI of the n-th port; -1: the play's own. */
void sim_stage_uri(const struct sim_play *p, int port,
		   char uri[sizeof(p->terms.uri)]);

/* Open the n-th client, at the n-th port; -1: at the URI's.  Returns the
 * code. */
int sim_stage_open(struct sim_play *p, size_t client, int port);

/* Before the client is closed: have no thread attend it any more. */
void sim_stage_unattend(struct sim_play *p, size_t client);

/* Close the client without waiting, and process the end; for want of memory,
 * wait. */
void sim_stage_close(const struct sim_play *p, dlock_client *c);

#endif
