/* SPDX-License-Identifier: Apache-2.0 */
/* All addresses of a name: which server do they lead to? */
#ifndef DLOCK_CORE_NET_SURVEY_H
#define DLOCK_CORE_NET_SURVEY_H

#include "core/net/meet.h"

/*
 * Ask at the addresses of the server's name for `home`; if it is at none, *out
 * is the one server that all of them lead to.  0, and *out has a connection; or
 * an error code, EINVAL if the addresses are two servers and `home` is none
 * yet.
 */
int dlki_survey(struct dlk_server *s, const struct home *home, struct met *out,
		const dlk_flag *stop, dlk_time deadline, struct dlk_error *err);

#endif
