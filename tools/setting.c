/* SPDX-License-Identifier: Apache-2.0 */
#include "setting.h"
#include "conf.h"
#include "exits.h"
#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct setting_row {
	const char *option, *variable, *key;
} rows[] = {
	[SETTING_URI] = { "-u", "DLOCK_URI", "uri" },
	[SETTING_REQUIRE] = { "--require", "DLOCK_REQUIRE", "require" },
};

static int set(struct setting *s, const char *text, const char *before,
	       const char *from)
{
	s->text = strdup(text);
	if (asprintf(&s->from, "%s%s", before, from) < 0)
		s->from = NULL;
	if (s->text && s->from)
		return 0;
	setting_free(s);
	return fail(LEAVE_SYSTEM, "out of memory");
}

/* Leaves *s alone if the file does not say. */
static int set_by_file(struct setting *s, const struct conf_file *file,
		       const char *key)
{
	struct conf_value value;
	char line[16];
	int status = conf_find(file, key, &value);

	if (status || !value.text)
		return status;
	snprintf(line, sizeof(line), ":%d", value.line);
	status = set(s, value.text, file->path, line);
	explicit_bzero(value.text, strlen(value.text));
	free(value.text);
	return status;
}

int setting_find(struct setting *out, enum setting_id id, const char *option)
{
	const struct setting_row *row = &rows[id];
	const char *env = secure_getenv(row->variable);
	const struct conf_file system = { CONF_SYSTEM, 0 };
	struct conf_file user = { NULL, 1 };
	char *path;
	int status = 0;

	*out = (struct setting){ 0 };
	if (option)
		return set(out, option, "", row->option);
	if (env && *env)
		return set(out, env, "$", row->variable);
	user.path = path = conf_user_path();
	if (path)
		status = set_by_file(out, &user, row->key);
	free(path);
	if (status == 0 && !out->text)
		status = set_by_file(out, &system, row->key);
	return status;
}

void setting_free(struct setting *s)
{
	if (s->text)
		explicit_bzero(s->text, strlen(s->text));
	free(s->text);
	free(s->from);
	*s = (struct setting){ 0 };
}
