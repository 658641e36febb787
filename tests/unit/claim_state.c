/* SPDX-License-Identifier: Apache-2.0 */
/* Each pair of claim states: in the table, on the page and by a move. */
#include "core/claim.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/record.h"
#include "core/release.h"

TestSuite(claim_state);

/* The moves, from the state of the row to the state of the column. */
static const char *const table[DLKI_STATES] = {
	/*                  A P H K L R C G */
	[DLKI_ASKING] = "   . + + . . + + +",
	[DLKI_PARKED] = "   + . . . . . . .",
	[DLKI_HELD] = "     . . . + + + . .",
	[DLKI_KEPT] = "     . . + . . + + +",
	[DLKI_LOST] = "     . . . . . . + +",
	[DLKI_RELEASING] = ". . . . . . + +",
	[DLKI_CLEANING] = " . . . . . . . +",
	[DLKI_GONE] = "     . . . . . . . .",
};

static bool is_legal(enum dlki_claim_state from, enum dlki_claim_state to)
{
	const char *row = table[from] + strspn(table[from], " ");

	return row[2 * (size_t)to] == '+';
}

/* ---- The page ------------------------------------------------------------ */

/* Writes the begin and the end of the row of docs/claim.md for a state. The
 * words in the middle are the page's own. */
static void row_of(enum dlki_claim_state from, char *begin, char *end,
		   size_t size)
{
	size_t n = (size_t)snprintf(end, size, "| ");

	snprintf(begin, size, "| %s | ", dlki_claim_state_name(from));
	for (enum dlki_claim_state to = 0; to < DLKI_STATES; to++) {
		if (dlki_claim_may_follow(from, to))
			n += (size_t)snprintf(end + n, size - n, "%s%s",
					      n > 2 ? ", " : "",
					      dlki_claim_state_name(to));
	}
	snprintf(end + n, size - n, "%s|\n", n > 2 ? " " : "");
}

static bool ends_in(const char *line, const char *end)
{
	size_t n = strlen(line), k = strlen(end);

	return n >= k && strcmp(line + n - k, end) == 0;
}

Test(claim_state, is_on_the_page_as_in_the_code)
{
	FILE *page = fopen(CLAIM_DOC, "r");
	char line[512], begin[256], end[256];
	int row = -2; /* two lines begin the table */

	cr_assert(page);
	while (fgets(line, sizeof(line), page) &&
	       (row <= 0 || line[0] == '|')) {
		if (line[0] != '|' || row++ < 0)
			continue;
		cr_assert_leq(row, DLKI_STATES, "one row too many: %s", line);
		row_of((enum dlki_claim_state)(row - 1), begin, end,
		       sizeof(begin));
		cr_expect_eq(strncmp(line, begin, strlen(begin)), 0,
			     "not '%s': %s", begin, line);
		cr_expect(ends_in(line, end), "not '%s': %s", end, line);
	}
	fclose(page);
	cr_expect_eq(row, DLKI_STATES, "%d rows", row);
}

/* ---- A move -------------------------------------------------------------- */

struct stage {
	struct dlock_client client;
	struct dlk_session session;
	struct dlki_record *record;
	struct dlki_claim *claim; /* with a ticket */
};

/* Makes a claim in state `from`, with the rest as state `to` wants. */
static void set_stage(struct stage *s, enum dlki_claim_state from,
		      enum dlki_claim_state to)
{
	memset(s, 0, sizeof(*s));
	s->session.core = &s->client;
	s->client.session = &s->session;
	s->record = dlki_record_new(&s->client, DLK_LOCK, "name", 0);
	s->claim = calloc(1, sizeof(*s->claim) + sizeof(struct dlk_ticket));
	cr_assert(s->record && s->claim);
	s->claim->client = &s->client;
	s->claim->record = s->record;
	s->claim->state = from;
	s->claim->residue.is = to == DLKI_GONE ? DLKI_NONE : DLKI_STANDS;
	s->claim->is_cleanup = to == DLKI_KEPT || to == DLKI_CLEANING;
	s->claim->ticket->id = to != DLKI_GONE;
	atomic_init(&s->claim->valid_until,
		    to == DLKI_HELD ? DLK_FOREVER : DLKI_EXPIRED);
}

static void clear_stage(struct stage *s)
{
	free(s->claim);
	free(s->record);
}

static void count_line(const struct dlock_log_line *line, void *arg)
{
	(void)line;
	++*(int *)arg;
}

/* Moves the claim, in a build without assert(); tells whether the promise has
 * ended and the program has a log line. */
static bool is_told(struct stage *s, enum dlki_claim_state to)
{
	struct dlki_log_bracket bracket;
	int lines = 0;

	dlki_log_init(&s->client.log, count_line, &lines, "", "");
	dlki_log_open(&bracket, &s->client.log);
	dlki_claim_move(s->claim, to);
	dlki_log_close(&bracket);
	return lines == 1 && !dlki_claim_valid(s->claim);
}

/* Tells whether the move ends the process, or is_told(). */
static bool is_refused(struct stage *s, enum dlki_claim_state to)
{
	int status;
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		_exit(is_told(s, to) ? 1 : 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
#ifdef NDEBUG
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
#else
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
#endif
}

Test(claim_state, moves_as_the_table_has_it)
{
	for (enum dlki_claim_state from = 0; from < DLKI_STATES; from++) {
		for (enum dlki_claim_state to = 0; to < DLKI_STATES; to++) {
			struct stage s;

			if (!is_legal(from, to))
				continue;
			set_stage(&s, from, to);
			dlki_claim_move(s.claim, to);
			cr_expect_eq(s.claim->state, to);
			cr_expect_eq(dlki_claim_valid(s.claim),
				     to == DLKI_HELD);
			clear_stage(&s);
		}
	}
}

Test(claim_state, refuses_any_other_move)
{
	for (enum dlki_claim_state from = 0; from < DLKI_STATES; from++) {
		for (enum dlki_claim_state to = 0; to < DLKI_STATES; to++) {
			struct stage s;

			if (is_legal(from, to))
				continue;
			set_stage(&s, from, to);
			cr_expect(is_refused(&s, to), "%s to %s",
				  dlki_claim_state_name(from),
				  dlki_claim_state_name(to));
			clear_stage(&s);
		}
	}
}

/* A claim not held has no promise, CLEANING has a clean-up of the renewer, and
 * GONE has no id. */
Test(claim_state, refuses_a_move_of_a_claim_that_does_not_fit_to_the_state)
{
	struct stage s;

	set_stage(&s, DLKI_HELD, DLKI_RELEASING);
	atomic_store(&s.claim->valid_until, DLK_FOREVER);
	cr_expect(is_refused(&s, DLKI_RELEASING));
	clear_stage(&s);
	set_stage(&s, DLKI_RELEASING, DLKI_CLEANING);
	s.claim->is_cleanup = 0;
	cr_expect(is_refused(&s, DLKI_CLEANING));
	clear_stage(&s);
	set_stage(&s, DLKI_RELEASING, DLKI_GONE);
	s.claim->ticket->id = 1;
	cr_expect(is_refused(&s, DLKI_GONE));
	clear_stage(&s);
}

/* A kept claim is released when another session wants the lock. */
Test(claim_state, cleaning_follows_an_answer_that_an_attempt_may_follow)
{
	struct stage s;

	set_stage(&s, DLKI_RELEASING, DLKI_CLEANING);
	s.claim->residue.is = DLKI_MAYBE;
	s.claim->idle = 1;
	dlki_release_answered(s.claim, 0);
	cr_expect_eq(s.claim->state, DLKI_CLEANING);
	cr_expect_eq(s.claim->residue.is, DLKI_NONE);
	cr_expect(s.claim->is_cleanup);
	clear_stage(&s);
}
