/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/files.h"

#include <glob.h>
#include <string.h>

#include "support/check.h"

struct play_count play_files(struct play_server *s, char *files[], FILE *record)
{
	struct play_count all = { 0 };

	for (; *files; files++) {
		struct play_count one = play(s, *files, record);

		all.cases += one.cases;
		all.replies += one.replies;
		all.failures += one.failures;
	}
	return all;
}

int play_main(char *argv[], const char *dir, play_with *with_model,
	      play_with *with_real)
{
	const char *how = argv[1] ? argv[1] : "";
	struct play_count count;
	char **files = argv + 2;
	char pattern[512];
	glob_t all;

	snprintf(pattern, sizeof(pattern), "%s/*.txt", dir);
	if (glob(pattern, 0, NULL, &all) != 0)
		FAIL("no cases in %s", dir);
	if (!argv[1] || !argv[2])
		files = all.gl_pathv;
	if (strcmp(how, "model") == 0)
		count = with_model(files, NULL);
	else if (strcmp(how, "real") == 0)
		count = with_real(files, NULL);
	else if (strcmp(how, "record") == 0)
		count = with_real(files, stdout);
	else
		return 2;
	globfree(&all);
	fprintf(stderr, "%s: %d cases, %d replies, %d cases differ\n", how,
		count.cases, count.replies, count.failures);
	return count.failures > 0 || count.replies == 0;
}
