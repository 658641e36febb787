/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grant rule against a model of the permission to enter. In the model, a
 * participant is in the way if the request could enter without the participant,
 * but not with the participant, for some set of the others.
 */
#include <dlock/backend.h>

#include <criterion/criterion.h>

#define LINE_MAX 6

/* Tells whether `me` may enter while the entries in `present` (bits) are ahead.
 *  */
static int may_enter(const struct dlk_queue_entry *line, unsigned int present,
		     struct dlk_queue_entry me)
{
	unsigned int exclusive = 0, shared = 0;

	for (unsigned int i = 0; i < LINE_MAX; i++) {
		if (!(present >> i & 1))
			continue;
		if (line[i].mode == DLK_EXCLUSIVE)
			exclusive++;
		else
			shared++;
	}
	if (me.mode == DLK_EXCLUSIVE)
		return exclusive + shared == 0;
	return exclusive == 0 && (me.limit == 0 || shared < me.limit);
}

static int stands_in_the_way(const struct dlk_queue_entry *line,
			     unsigned int ahead, unsigned int i,
			     struct dlk_queue_entry me)
{
	for (unsigned int set = 0; set < 1u << ahead; set++)
		if (!(set >> i & 1) && may_enter(line, set, me) &&
		    !may_enter(line, set | 1u << i, me))
			return 1;
	return 0;
}

static ptrdiff_t model(const struct dlk_queue_entry *line, unsigned int ahead,
		       struct dlk_queue_entry me)
{
	if (may_enter(line, (1u << ahead) - 1, me))
		return -1;
	for (unsigned int i = ahead; i-- > 0;)
		if (stands_in_the_way(line, ahead, i, me))
			return (ptrdiff_t)i;
	return -2; /* no entry, and no result of the rule is equal */
}

Test(grant, agrees_with_the_model_on_every_queue_up_to_six)
{
	for (unsigned int n = 0; n <= LINE_MAX; n++) {
		for (unsigned int modes = 0; modes < 1u << n; modes++) {
			struct dlk_queue_entry line[LINE_MAX] = { 0 };

			for (unsigned int i = 0; i < n; i++) {
				line[i].mode = modes >> i & 1 ? DLK_SHARED :
								DLK_EXCLUSIVE;
				line[i].limit = i; /* limits ahead are void */
			}
			for (uint32_t limit = 0; limit <= n + 1; limit++) {
				struct dlk_queue_entry me = { DLK_SHARED, limit,
							      1 };

				cr_assert_eq(dlk_grant(line, n, me),
					     model(line, n, me),
					     "n %u modes %x limit %u", n, modes,
					     limit);
			}
			cr_assert_eq(dlk_grant(line, n,
					       (struct dlk_queue_entry){ 0 }),
				     model(line, n,
					   (struct dlk_queue_entry){ 0 }),
				     "n %u modes %x", n, modes);
		}
	}
}

/* Permits of a limit of three, ahead and asked for. The request overtakes no
 * entry, whether the entry holds or waits. */
Test(grant, counts_permits)
{
	for (unsigned int all = 0; all < 4 * 4 * 4; all++) {
		const uint32_t n[] = { all % 4, all / 4 % 4, all / 16 };
		struct dlk_queue_entry line[2], me = { DLK_SHARED, 3, n[2] };
		uint32_t sum = 0;

		for (int i = 0; i < 2; i++)
			line[i] = (struct dlk_queue_entry){ DLK_SHARED, 3,
							    n[i] };
		for (int i = 0; i < 3; i++)
			sum += n[i] > 0 ? n[i] : 1;
		cr_expect_eq(dlk_grant(line, 2, me), sum > 3 ? 1 : -1,
			     "%u %u %u", n[0], n[1], n[2]);
	}
	cr_expect_eq(dlk_grant(
			     (struct dlk_queue_entry[]){
				     { DLK_SHARED, 0, UINT32_MAX },
				     { DLK_SHARED, 0, UINT32_MAX } },
			     2,
			     (struct dlk_queue_entry){ DLK_SHARED, UINT32_MAX,
						       UINT32_MAX }),
		     1);
}

Test(grant, an_empty_line_may_be_null)
{
	cr_expect_eq(dlk_grant(NULL, 0,
			       (struct dlk_queue_entry){ DLK_SHARED, 1, 1 }),
		     -1);
}
