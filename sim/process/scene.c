/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/scene.h"

#include <string.h>

const struct sim_scene *sim_scene_find(const char *name)
{
	static const struct sim_scene *const all[] = {
		&sim_mem_scene, &sim_redis_scene, &sim_memcached_scene,
		&sim_fleet_scene, &sim_zk_scene
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	}
	return NULL;
}
