/* SPDX-License-Identifier: Apache-2.0 */
/* A scene: the store of a play, with the faults there. */
#ifndef DLOCK_SIM_PROCESS_SCENE_H
#define DLOCK_SIM_PROCESS_SCENE_H

#include "sim/base/chance.h"
#include "sim/process/terms.h"

/* An expired claim has ended by the machine's clock, and stands because the
 * server's timer is late. */
enum sim_claim { SIM_NONE, SIM_EXPIRED, SIM_STANDS };

struct sim_scene {
	const char *name; /* for --store */

	/* Draw the faults, and tell the terms. */
	void (*draw)(struct sim_terms *t, struct sim_chance *chance);

	/* Of so many seeds, readers become writers in one; 0: in none. */
	unsigned int upgrades;

	/* In some seeds a release returns when the request is sent. */
	int sends;

	/* Of so many seeds, semaphores are resized in one; 0: in none. */
	unsigned int resizes;

	/* Start the model server, without faults, and stop the server.  NULL:
	 * there is no server. */
	void (*begin)(struct sim_chance *chance);
	void (*end)(void);

	/* Begin the faults, or end all. */
	void (*faults)(int begin);

	/* Clog every connection of now, on the way to the server.  NULL:
	 * not with this store. */
	void (*strand)(void);

	/* No other fault begins, but bytes under way stay there.  NULL: not
	 * with this store. */
	void (*subside)(void);

	/* May the server have a claim by late bytes, unknown to clients? */
	int (*is_late)(void);

	/* Has the server a claim to the lock, or semaphore? */
	enum sim_claim (*claim)(const char *name, int is_semaphore);

	/* Learn which server of a fleet keeps the name: the server with a claim
	 * to the lock, or semaphore, now.  From then on a claim in another
	 * server is a flaw.  Returns the server's number; -1: no claim.  NULL:
	 * there is a single server. */
	int (*learn_member)(const char *name, int is_semaphore);

	/* The servers of a fleet forget in which pool they are. */
	void (*forget_pool)(void);

	/* Return a key that a client has left in the server, when all holds and
	 * waits have ended; or NULL. */
	const char *(*left)(void);
};

/* NULL: no such scene. */
const struct sim_scene *sim_scene_find(const char *name);

extern const struct sim_scene sim_mem_scene, sim_redis_scene,
	sim_memcached_scene, sim_fleet_scene, sim_zk_scene;

#endif
