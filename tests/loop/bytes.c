/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/heap.h"
#include "core/net/bytes.h"
#include "core/net/flight.h"
#include "support/address.h"

/* ---- Bytes --------------------------------------------------------------- */

Test(bytes, come_out_as_they_went_in)
{
	struct dlki_bytes b = { 0 };
	unsigned int in = 0, out = 0;

	for (unsigned int round = 1; round < 400; round++) {
		for (unsigned int i = 0; i < round; i++) {
			char c = (char)(in++ * 7);

			cr_assert_eq(dlki_bytes_reserve(&b, 1), 0);
			dlki_bytes_append(&b, &c, 1);
		}
		while (dlki_bytes_len(&b) > 50) {
			size_t n = 1 + dlki_bytes_len(&b) / 3;

			for (size_t i = 0; i < n; i++)
				cr_assert_eq(dlki_bytes_at(&b)[i],
					     (char)(out++ * 7));
			dlki_bytes_take(&b, n);
		}
	}
	cr_assert_eq(in - out, dlki_bytes_len(&b));
	dlki_bytes_clear(&b);
	cr_assert_eq(dlki_bytes_len(&b), 0);
	dlki_bytes_free(&b);
}

Test(bytes, make_room_in_front_of_more_memory)
{
	struct dlki_bytes b = { 0 };
	char in[900];
	char *v;

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (char)i;
	cr_assert_eq(dlki_bytes_reserve(&b, sizeof(in)), 0);
	dlki_bytes_append(&b, in, sizeof(in));
	dlki_bytes_append(&b, NULL, 0);
	dlki_bytes_take(&b, 800);
	v = b.v;
	cr_assert_eq(dlki_bytes_reserve(&b, 500), 0);
	cr_assert_eq(b.v, v);
	cr_assert_eq(memcmp(dlki_bytes_at(&b), in + 800, 100), 0);
	dlki_bytes_take(&b, 10);
	cr_assert_eq(dlki_bytes_reserve(&b, 200000), 0);
	cr_assert_eq(memcmp(dlki_bytes_at(&b), in + 810, 90), 0);
	cr_assert_eq(dlki_bytes_reserve(&b, SIZE_MAX / 2), DLOCK_ENOMEM);
	cr_assert_eq(dlki_bytes_len(&b), 90);
	dlki_bytes_clear(&b);
	cr_assert_null(b.v, "so much is not kept");
}

/* ---- Flight -------------------------------------------------------------- */

static void add(struct dlki_flight *f, uint64_t start, uint32_t n)
{
	cr_assert_eq(dlki_flight_reserve(f, n), 0);
	for (uint32_t i = 0; i < n; i++)
		dlki_flight_add(f, (struct dlki_slot){ .start = start,
						       .n = n - i });
}

static dlk_time since(const struct dlki_flight *f, uint64_t serial)
{
	return dlki_flight_at(f, serial)->since;
}

Test(flight, a_request_counts_as_sent_with_its_first_byte)
{
	struct dlki_flight f = { 0 };

	add(&f, 0, 1);
	add(&f, 10, 2);
	add(&f, 20, 1);
	dlki_flight_mark(&f, 30, 5);
	dlki_flight_unmark(&f, 11); /* the kernel took 11 bytes */
	cr_assert_eq(since(&f, 0), 5);
	cr_assert_eq(since(&f, 1), 5);
	cr_assert_eq(since(&f, 2), 5);
	cr_assert_eq(since(&f, 3), 0);
	dlki_flight_mark(&f, 30, 6);
	cr_assert_eq(since(&f, 1), 5);
	cr_assert_eq(since(&f, 3), 6);
	dlki_flight_free(&f);
}

Test(flight,
     a_request_that_ends_where_the_kernel_stopped_leaves_the_next_unsent)
{
	struct dlki_flight f = { 0 };

	add(&f, 0, 1);
	add(&f, 10, 1);
	dlki_flight_mark(&f, 20, 5);
	dlki_flight_unmark(&f, 10);
	cr_assert_eq(since(&f, 0), 5);
	cr_assert_eq(since(&f, 1), 0);
	dlki_flight_free(&f);
}

Test(flight, answers_take_requests_in_order)
{
	struct dlki_flight f = { 0 };

	for (uint64_t i = 0; i < 1000; i++) {
		add(&f, 2 * i, 1 + (uint32_t)(i % 3));
		if (i % 4 != 3)
			continue;
		cr_assert_eq(dlki_flight_at(&f, f.first)->start, 2 * (i / 4));
		dlki_flight_pop(&f);
		cr_assert_null(dlki_flight_at(&f, f.first - 1));
		cr_assert_null(dlki_flight_at(&f, f.end));
	}
	dlki_flight_mark(&f, 3000, 9);
	for (uint64_t i = f.first; i != f.end; i++)
		cr_assert_eq(since(&f, i), 9);
	dlki_flight_clear(&f);
	cr_assert_null(dlki_flight_at(&f, f.first));
	dlki_flight_pop(&f);
	dlki_flight_free(&f);
}

/* ---- Addresses ----------------------------------------------------------- */

Test(address, is_told_as_it_was_given)
{
	char text[DLKI_ADDRESS_TEXT], path[200];
	struct dlki_address a;

	cr_assert_eq(address_tcp(&a, "127.0.0.1", 6379), 0);
	dlki_address_text(&a, text);
	cr_assert_str_eq(text, "127.0.0.1:6379");
	cr_assert_eq(address_tcp(&a, "::1", 1), 0);
	dlki_address_text(&a, text);
	cr_assert_str_eq(text, "[::1]:1");
	cr_assert_eq(address_tcp(&a, "localhost", 1), DLOCK_EINVAL);
	cr_assert_eq(dlki_address_unix(&a, "/run/x", NULL), 0);
	dlki_address_text(&a, text);
	cr_assert_str_eq(text, "/run/x");
	cr_assert_eq(dlki_address_unix(&a, "", NULL), DLOCK_EINVAL);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	cr_assert_eq(dlki_address_unix(&a, path, NULL), DLOCK_EINVAL);
}

/* ---- Alarms -------------------------------------------------------------- */

struct ringing {
	struct dlki_alarm alarm;
	struct dlki_alarms *of;
	dlk_time due, again;
	int rang, early;
};

static void ring(struct dlki_alarm *a, dlk_time now)
{
	struct ringing *r = (struct ringing *)a;

	if (now < r->due)
		r->early++;
	else
		r->rang++;
	if (r->again)
		dlki_alarm_set(r->of, a, r->again);
}

Test(alarm, rings_in_order_and_not_before_its_time)
{
	struct dlki_alarms s = { 0 };
	struct ringing r[50] = { 0 };

	cr_assert_eq(dlki_heap_next(&s.heap), DLK_FOREVER);
	cr_assert_eq(dlki_alarms_ring(&s, 100), 0);
	cr_assert_eq(dlki_alarms_reserve(&s, 50), 0);
	for (int i = 0; i < 50; i++) {
		r[i].alarm.ring = ring;
		r[i].due = 1 + i * 37 % 50;
		dlki_alarm_set(&s, &r[i].alarm, r[i].due);
	}
	for (dlk_time t = 0; t <= 50; t++) {
		int rang = 0;

		cr_assert_eq(dlki_alarms_ring(&s, t), t > 0);
		for (int i = 0; i < 50; i++) {
			rang += r[i].rang;
			cr_assert_eq(r[i].early, 0);
		}
		cr_assert_eq(rang, t);
		cr_assert_eq(dlki_heap_next(&s.heap),
			     t < 50 ? t + 1 : DLK_FOREVER);
	}
	dlki_heap_destroy(&s.heap);
}

Test(alarm, that_sets_itself_to_the_past_rings_once_a_call)
{
	struct dlki_alarms s = { 0 };
	struct ringing r = { .alarm.ring = ring, .of = &s, .again = 3 };

	cr_assert_eq(dlki_alarms_reserve(&s, 1), 0);
	dlki_alarm_set(&s, &r.alarm, 3);
	cr_assert_eq(dlki_alarms_ring(&s, 5), 1);
	cr_assert_eq(dlki_alarms_ring(&s, 5), 1);
	r.again = 0;
	dlki_alarm_set(&s, &r.alarm, DLK_FOREVER);
	cr_assert_eq(dlki_alarms_ring(&s, 5), 0);
	cr_assert_eq(r.rang, 2);
	dlki_heap_destroy(&s.heap);
}
