/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A protocol of lines, to try the engine with.
 *
 *	client		server
 *	HI		HI, HI NAME: welcome	NO: never
 *	A ID		G TOKEN, B MS CLOCK, M (again), F (failed)
 *	R TOKEN		Y1, Y0: of every other verb
 *	K ID		K: BREAK's first request, and the second is
 *	K2 ID		Y1
 *	J TOKEN		J LAST: WATCH, which waits for the ear; or Y0
 *	I ID		I LABEL...: INSPECT, a row for each label
 *	(any)		Z: nonsense, and the reason names the server
 *			H: hold the op, which begins anew at U
 *			X TEXT: busy, and TEXT is in the way
 *			V: leave the server, which is a replica
 *	(unasked)	P ID TOKEN CLOCK, W ID, L (look again),
 *			O OWNER (wanted), ! TEXT (a warning), U (resume)
 *
 * With the URI's label "ear" there is a second link, in NEWS, which is wanted
 * from the first B or WATCH on, and greets with EAR, which is answered as HI.
 * Every parked claim looks again when the ear is up.
 */
#ifndef TESTS_LOOP_LINES_H
#define TESTS_LOOP_LINES_H

#include "core/loop/protocol.h"

struct lines {
	struct dlki_store base;
	struct dlki_link *main, *ear;
	char part[DLKI_LINKS][256]; /* of a line, each link's */
	size_t len[DLKI_LINKS];
	int closed, lost, grants;
	dlk_time last_now; /* of the last call */
	int went_back;
};

extern const struct dlki_protocol lines_protocol;

/* Ends every op within submit(), as a store in memory does. */
extern const struct dlki_protocol at_once_protocol;

#endif
