/* SPDX-License-Identifier: Apache-2.0 */
/* The model servers of a scene: a single server, or a fleet. */
#ifndef DLOCK_SIM_PROCESS_MODELS_H
#define DLOCK_SIM_PROCESS_MODELS_H

#include "sim/process/member.h"
#include "sim/process/model_weather.h"
#include "sim/process/scene.h"

/* A way is a client's to a server.  Of a single server, a way has a port; of a
 * fleet, an epoll descriptor. */
enum { SIM_WAYS = 2048 };

struct sim_models {
	struct sim_member member[SIM_MEMBERS];
	size_t n;
	struct sim_chance *chance;
	struct sim_model_weather weather;          /* as drawn */
	struct sim_model_weather now[SIM_MEMBERS]; /* of each server */
	int64_t deaf_until[SIM_WAYS]; /* the server, for the client ... */
	size_t deaf_of[SIM_WAYS];     /* ... this server: a later client may
				       * have the same way to another */
	int loses[SIM_WAYS];          /* ... with each closed connection */
};

/* Start the servers, and end them; the weather is drawn. */
void sim_models_begin(struct sim_models *s, struct sim_chance *chance);
void sim_models_end(struct sim_models *s);

/* Return the number of the wire's server. */
size_t sim_models_member(const struct sim_models *s, const struct sim_wire *w);

/* Is a claim to the lock, or semaphore, in the server? */
enum sim_claim sim_models_claim(const struct sim_models *s, size_t member,
				const char *name, int is_semaphore);

/* Return a key of a claim in any server, or NULL. */
const char *sim_models_key(const struct sim_models *s);

/* Set the weather of a connection that begins. */
void sim_models_greet(const struct sim_models *s, struct sim_wire *w);

/* Faults may begin: a client has sent bytes. */
void sim_models_draw_faults(struct sim_models *s, struct sim_wire *w);

/* End all faults. */
void sim_models_heal(struct sim_models *s);

#endif
