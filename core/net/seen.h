/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a survey of all addresses: part of endpoint.h. */
#ifndef DLOCK_CORE_NET_SEEN_H
#define DLOCK_CORE_NET_SEEN_H

#include "core/net/endpoint.h"

/* Take in that the server at m->at could not be reached. */
void dlki_seen_missed(struct dlki_endpoint *p, const struct dlki_met *m,
		      const struct dlk_error *why);

/* Take in that the server at m->at is known, and is not home. */
void dlki_seen_met(struct dlki_endpoint *p, const struct dlki_met *m);

/* Judge, after every address was tried.  0: p->met may become home; EINVAL:
 * there are two servers, and no home yet; or EUNREACHABLE. */
int dlki_seen_judge(struct dlki_endpoint *p, struct dlk_error *err);

#endif
