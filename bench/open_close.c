/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"
#include "bench/null.h"
#include "bench/stop.h"

#include <stdlib.h>

#define SAMPLES 20000

static int pair(struct bench_run *r, const char *uri)
{
	dlock_client *client;
	int rc = dlock_open(&client, uri, NULL);

	if (rc == DLOCK_ENOTSUP)
		return bench_skip(r, "%s", dlock_errmsg());
	if (rc != 0)
		return bench_fail_dlock(r, rc, "dlock_open");
	dlock_close(client);
	return 0;
}

static int measure(struct bench_run *r, const char *uri, const char *scheme,
		   struct bench_samples *s)
{
	struct bench_result res = BENCH_RESULT_INIT("us");
	int64_t until;
	int rc = 0;

	s->n = 0;
	for (int i = 0; i < 5 && rc == 0; i++)
		rc = pair(r, uri);
	until = bench_now() + (int64_t)(r->seconds * 1e9 / 3);
	while (rc == 0 && (s->n < 5 || !bench_over(until))) {
		int64_t begin = bench_now();

		rc = pair(r, uri);
		bench_sample(s, (double)(bench_now() - begin) / 1e3);
	}
	if (rc != 0 || bench_stopped)
		return rc;
	res.value = res.p50 = bench_percentile(s, 50);
	res.p99 = bench_percentile(s, 99);
	res.samples = s->n;
	bench_text(&res, "scheme", scheme);
	bench_emit(r, &res);
	return 0;
}

static int run(struct bench_run *r)
{
	struct bench_samples s;
	char *file = bench_file_uri(r);
	int rc = null_register(r);

	bench_pin(r);
	if (bench_samples_init(&s, SAMPLES) != 0 || !file)
		rc = bench_fail(r, "out of memory");
	if (rc == 0)
		rc = measure(r, "null:", "null", &s);
	if (rc == 0)
		rc = measure(r, "mem://bench", "mem", &s);
	if (rc == 0)
		rc = measure(r, file, "file", &s);
	bench_samples_free(&s);
	free(file);
	return rc;
}

const struct bench bench_open_close = {
	.name = "open.close",
	.summary = "opening a client and closing it again, per store",
	.run = run,
};
