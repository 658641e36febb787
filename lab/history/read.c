/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"
#include "lab/history/history.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pile {
	struct lab_record *records;
	size_t count;
	size_t room;
};

static int reserve_records(struct pile *p)
{
	size_t room = p->room ? 2 * p->room : 4096;
	struct lab_record *records;

	if (p->count < p->room)
		return 0;
	records = realloc(p->records, room * sizeof(*records));
	if (!records)
		return lab_fail("out of memory");
	p->records = records;
	p->room = room;
	return 0;
}

static int load_file(struct pile *p, const char *path)
{
	FILE *f = fopen(path, "re");
	int rc = 0;

	if (!f)
		return lab_fail("%s: %s", path, strerror(errno));
	for (;;) {
		rc = reserve_records(p);
		if (rc < 0 || fread(&p->records[p->count], sizeof(*p->records),
				    1, f) != 1)
			break;
		p->records[p->count].name[sizeof(p->records->name) - 1] = '\0';
		p->count++;
	}
	if (!rc && ferror(f))
		rc = lab_fail("%s: %s", path, strerror(errno));
	fclose(f);
	return rc;
}

int lab_history_load(const char *dir, struct lab_record **records,
		     size_t *count)
{
	struct pile p = { 0 };
	char path[4096];
	struct dirent *d;
	int rc = 0;
	DIR *files;

	files = opendir(dir);
	if (!files)
		return lab_fail("%s: %s", dir, strerror(errno));
	for (d = readdir(files); d && !rc; d = readdir(files)) {
		const char *dot = strrchr(d->d_name, '.');

		if (!dot || strcmp(dot, ".history") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		rc = load_file(&p, path);
	}
	closedir(files);
	if (rc < 0) {
		free(p.records);
		return -1;
	}
	*records = p.records;
	*count = p.count;
	return 0;
}

void lab_record_print(const struct lab_record *r, char *out, size_t size)
{
	static const char *const whats[] = {
		[LAB_ACQUIRE] = "acquire",   [LAB_ACQUIRED] = "acquired",
		[LAB_UNTIL] = "until",       [LAB_CHECKED] = "checked",
		[LAB_LOST] = "lost",         [LAB_RELEASE] = "release",
		[LAB_RELEASED] = "released", [LAB_WROTE] = "wrote",
		[LAB_PAUSED] = "paused",     [LAB_RESUMED] = "resumed",
		[LAB_KILLED] = "killed",     [LAB_WIPED] = "wiped",
		[LAB_LEFT] = "left",         [LAB_NOTE] = "note",
	};
	static const char *const modes[] = { "mutex", "write", "read",
					     "permit" };
	const char *what = r->what && r->what <= LAB_NOTE ? whats[r->what] :
							    "?";

	snprintf(out, size,
		 "%.6f pid %" PRIu32 "/%" PRIu32 " op %" PRIx64
		 " %s %s '%s' rc %" PRId32 " token %" PRIu64 " until %.6f"
		 " value %" PRId64,
		 (double)r->at / 1e9, r->pid, r->tid, r->op, what,
		 r->what == LAB_ACQUIRE && r->mode < 4 ? modes[r->mode] : "",
		 r->name, r->rc, r->token, (double)r->until / 1e9, r->value);
}
