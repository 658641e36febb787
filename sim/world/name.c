/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of servers, and the name with some of the addresses. */
#include <arpa/inet.h>
#include <netdb.h>

#include "sim/world/net.h"

static const uint32_t first = 0x0a000001; /* 10.0.0.1 */

struct dlki_address sim_net_address(int place)
{
	struct dlki_address out = { .len = sizeof(out.to.in) };
	uint32_t address = place < SIM_PLACES ? first + (uint32_t)place :
						INADDR_LOOPBACK;

	out.to.in.sin_family = AF_INET;
	out.to.in.sin_port = htons(SIM_PORT);
	out.to.in.sin_addr.s_addr = htonl(address);
	return out;
}

struct sim_server *sim_net_server(struct sim_net *n,
				  const struct dlki_address *at)
{
	uint32_t place = ntohl(at->to.in.sin_addr.s_addr) - first;

	if (place >= SIM_PLACES)
		return &n->servers[n->master];
	return place / 2 < n->n_servers ? &n->servers[place / 2] : NULL;
}

int sim_net_name(const struct sim_net *n, struct dlki_address *out, int room)
{
	int from = (int)sim_draw(n->chance, "name:order", SIM_PLACES);
	int found = 0;

	for (int i = 0; i < SIM_PLACES && found < room; i++) {
		int place = (from + i) % SIM_PLACES;

		if (n->name & 1u << place)
			out[found++] = sim_net_address(place);
	}
	return n->name_fails ? n->name_fails : found;
}
