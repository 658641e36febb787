/* SPDX-License-Identifier: Apache-2.0 */
/* Invented findings for tests of report writers. */
#include "made_findings.h"

#include <dlock/dlock.h>

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define LOCAL                                                                  \
	(DLOCK_CAP_SHARED | DLOCK_CAP_COUNT | DLOCK_CAP_FENCE |                \
	 DLOCK_CAP_EXPIRE | DLOCK_CAP_INSPECT)
#define FAR (LOCAL | DLOCK_CAP_REMOTE)

static const struct lab_store stores[] = {
	{ "mem", "mem:", "", "", "", 0, LOCAL | DLOCK_CAP_FAIR, false },
	{ "file", "file:///run/lock/app", "", "ext4", "", 0, LOCAL, false },
	{ "redis", "redis://127.0.0.1:6379", "redis 7.0.15",
	  "appendonly no, save none, maxmemory-policy noeviction", "", 3000,
	  FAR | DLOCK_CAP_FAIR | DLOCK_CAP_WAKE, false },
	{ "memcached", "memcached://127.0.0.1:11211", "memcached 1.6.18",
	  "64 MB, evictions on", "", 3000, FAR, false },
	{ "zk-3", "zk://127.0.0.1:2181,127.0.0.1:2182", "zookeeper 3.8.0",
	  "3 servers, tickTime 500, forceSync yes", "", 3000,
	  FAR | DLOCK_CAP_FAIR | DLOCK_CAP_DURABLE | DLOCK_CAP_CONSISTENT,
	  false },
	{ "a<b>|c", "sh -c 'echo \"&|<>\"'", "", "", "", 0, 0, true },
	{ "gone", "redis://127.0.0.1:1", "", "",
	  "no answer within 5 s: connection refused", 0, 0, false },
};

static const struct lab_about scenarios[] = {
	{ "exclusion", "exclusion under contention",
	  "promise intervals of conflicting holds never overlap", false },
	{ "fairness", "fairness", "grants come in order of asking", false },
	{ "read-write", "read-write lock",
	  "readers share, writers exclude everybody", false },
	{ "holder-killed", "holder killed",
	  "the lock comes free within its ttl", true },
	{ "server-restarted", "server restarted",
	  "no two hold, whatever the server forgot", true },
	{ "network-cut", "network cut",
	  "LOST comes before another can be granted it", true },
};

static void judge(struct lab_findings *f, size_t store, size_t scenario)
{
	struct lab_finding *c = lab_findings_cell(f, store, scenario);

	c->outcome = LAB_OUTCOME_KEPT;
	c->took_ms = 700 + (int64_t)(store * 130 + scenario * 410);
	if (store == 6) {
		c->outcome = LAB_OUTCOME_NOT_RUN;
		c->why = stores[6].trouble;
	} else if (scenario > 3 && store < 2) {
		c->outcome = LAB_OUTCOME_NOT_RUN;
		c->why = "there is no server";
	} else if (scenario == 1 && (store == 1 || store == 3)) {
		c->outcome = LAB_OUTCOME_REFUSED;
		c->why = "has not FAIR, and an open that requires it fails";
	} else if (scenario == 4 && (store == 2 || store == 3)) {
		c->outcome = LAB_OUTCOME_LOSS;
		c->found_ms = store == 2 ? 41 : 962;
		c->why = "the server came back empty; two believed to hold";
	} else if (scenario == 0 && store == 5) {
		c->outcome = LAB_OUTCOME_BROKEN;
		c->why = "OVERLAP: A and B held \"x<y>\" at once | for 3 ms";
	} else if (scenario == 1 && store == 2) {
		c->outcome = LAB_OUTCOME_LIE;
		c->why = "declares FAIR, and 31 of 120 grants passed over "
			 "who had asked before";
	}
}

static void measure(struct lab_findings *f, size_t store)
{
	static const double usual[] = { 0.6, 21, 88, 71, 640, 2400 };
	struct lab_figure *g = lab_findings_figure(f, store, 0);
	double values[400];

	for (size_t i = 0; i < LENGTH(values); i++)
		values[i] = usual[store] * (0.9 + 0.2 * sin((double)i * 7)) *
			    (i % 97 == 0 ? 6 : 1);
	if (g) {
		g->id = "pair";
		g->name = "acquire + release";
		g->unit = "us";
		g->floor = store > 1 && store < 5 ? "bare round trip x 2" : "";
		g->floor_p50 = store > 1 && store < 5 ? usual[store] * 0.8 : -1;
		lab_figure_samples(g, values, LENGTH(values));
	}
	for (size_t i = 0; i < 5; i++)
		values[i] = 400 * (double)store + (double)i * 10 + 3;
	g = lab_findings_figure(f, store, 3);
	if (g) {
		g->id = "recover-kill";
		g->name = "free again after its holder was killed";
		g->unit = "ms";
		lab_figure_samples(g, values, 5);
	}
}

static void draw(struct lab_findings *f, size_t store, size_t scenario,
		 bool overlap)
{
	struct lab_timeline *t = lab_findings_timeline(f, store, scenario);
	double lost = overlap ? 962 : 180;
	size_t a, b;

	if (!t)
		return;
	t->fault = scenario == 4 ? "the server is killed and started again" :
				   "the holder's network is cut";
	t->fault_to = 220;
	t->from = -400;
	t->to = 2000;
	a = lab_timeline_participant(f, t, "A: holder");
	b = lab_timeline_participant(f, t, "B: waiter");
	lab_timeline_belief(f, t,
			    (struct lab_belief){ a, -350, lost, 171, false });
	lab_timeline_belief(f, t,
			    (struct lab_belief){ b, 241, 1800, 172, false });
	lab_timeline_mark(f, t, a, lost, "LOST");
	lab_timeline_mark(f, t, b, 1800, "released");
	if (overlap)
		lab_timeline_overlap(f, t, 241, lost);
}

struct lab_findings *sample_findings(void)
{
	struct lab_findings *f = lab_findings_new();

	for (size_t i = 0; f && i < LENGTH(stores); i++) {
		struct lab_store *s = lab_findings_store(f);

		if (s)
			*s = stores[i];
	}
	for (size_t i = 0; f && i < LENGTH(scenarios); i++) {
		struct lab_about *b = lab_findings_scenario(f);

		if (b)
			*b = scenarios[i];
	}
	if (!f || !lab_findings_cells(f) || !lab_findings_ok(f)) {
		lab_findings_free(f);
		return NULL;
	}
	f->run = (struct lab_run){
		1763731200, 161234,
		"0.1.0",    "2 x AMD EPYC 7B13, 7.8 GB, Linux 6.1",
		31,         "--lab --quick",
		20251121,   true,
		true,       false
	};
	for (size_t s = 0; s < LENGTH(stores); s++)
		for (size_t b = 0; b < LENGTH(scenarios); b++)
			judge(f, s, b);
	for (size_t s = 0; s < 6; s++)
		measure(f, s);
	for (size_t s = 2; s < 5; s++) {
		draw(f, s, 4, s < 4);
		draw(f, s, 5, false);
	}
	if (!lab_findings_ok(f)) {
		lab_findings_free(f);
		return NULL;
	}
	return f;
}
