/* SPDX-License-Identifier: Apache-2.0 */
/* Holders with several permits, and holders of both sides of a lock. */
#include "histories.h"

#define READ .mode = LAB_READ
#define WRITE .mode = LAB_WRITE

const struct history histories_holders[] = {
	/* ---- good ---- */
	{ "as many permits as there are, in two holds",
	  .holds = { { SEM(3), .permits = 2, HELD(1, 2, 20, 21, 5) },
		     { SEM(3), HELD(1, 2, 30, 31, 6) },
		     { SEM(3), .permits = 2, HELD(1, 22, 40, 41, 7) } } },
	{ "a reader upgrades twice",
	  .holds = { { READ, .pid = 7, HELD(1, 2, 50, 51, 5) },
		     { READ, HELD(1, 2, 10, 11, 4) },
		     { WRITE, .beside = 1, .pid = 7, HELD(8, 12, 20, 21, 6) },
		     { READ, HELD(12, 22, 24, 25, 7) },
		     { WRITE, .beside = 1, .pid = 7,
		       HELD(22, 26, 30, 31, 8) } } },
	{ "a writer becomes a reader",
	  .holds = { { WRITE, .pid = 7, HELD(1, 2, 10, 11, 5) },
		     { READ, .beside = 1, .pid = 7, HELD(4, 5, 30, 31, 5) },
		     { READ, HELD(6, 12, 40, 41, 6) },
		     { WRITE, HELD(6, 42, 50, 51, 7) } } },
	/* ---- bad ---- */
	{ "a permit too many", BREAKS(OVERLAP),
	  .holds = { { SEM(3), .permits = 2, HELD(1, 2, 20, 21, 5) },
		     { SEM(3), .permits = 2, HELD(1, 3, 10, 11, 6) } } },
	{ "more permits than there are", BREAKS(OVERLAP),
	  .holds = { { SEM(2), .permits = 3, HELD(1, 2, 20, 21, 5) } } },
	{ "an upgrade beside a plain reader", BREAKS(OVERLAP),
	  .holds = { { READ, .pid = 7, HELD(1, 2, 50, 51, 5) },
		     { READ, HELD(1, 2, 30, 31, 4) },
		     { WRITE, .beside = 1, .pid = 7,
		       HELD(8, 12, 20, 21, 6) } } },
	{ "a writer between the read side and the upgrade", BREAKS(OVERLAP),
	  .holds = { { READ, .pid = 7, HELD(1, 2, 50, 51, 5) },
		     { WRITE, HELD(1, 5, 10, 11, 6) },
		     { WRITE, .beside = 1, .pid = 7,
		       HELD(8, 12, 20, 21, 7) } } },
	{ "a reader beside an upgrade", BREAKS(OVERLAP),
	  .holds = { { READ, .pid = 7, HELD(1, 2, 50, 51, 5) },
		     { WRITE, .beside = 1, .pid = 7, HELD(8, 12, 20, 21, 6) },
		     { READ, HELD(13, 14, 30, 31, 7) } } },
	{ "a writer beside a downgraded one", BREAKS(OVERLAP),
	  .holds = { { WRITE, .pid = 7, HELD(1, 2, 10, 11, 5) },
		     { READ, .beside = 1, .pid = 7, HELD(4, 5, 30, 31, 5) },
		     { WRITE, HELD(6, 12, 20, 21, 6) } } },
	{ "an upgrade with an old token", BREAKS(TOKEN),
	  .holds = { { READ, .pid = 7, HELD(10, 11, 50, 51, 5) },
		     { WRITE, HELD(1, 2, 8, 9, 4) },
		     { WRITE, .beside = 1, .pid = 7,
		       HELD(12, 13, 20, 21, 3) } } },
	{ .title = NULL },
};
