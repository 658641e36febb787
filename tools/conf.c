/* SPDX-License-Identifier: Apache-2.0 */
#include "conf.h"
#include "exits.h"
#include "message.h"
#include "password.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLANKS " \t\r\n"

static const char *const keys[] = { "uri", "require", NULL };

#define KEYS (sizeof(keys) / sizeof(keys[0]) - 1)

/* A file while it is read. */
struct reading {
	const struct conf_file *file;
	struct stat st;
	int line;
	int seen[KEYS]; /* the line, or 0 */
};

char *conf_user_path(void)
{
	const char *xdg = secure_getenv("XDG_CONFIG_HOME");
	const char *home = secure_getenv("HOME");
	char *path;
	int n;

	/* The base directory specification ignores relative paths. */
	if (xdg && *xdg == '/')
		n = asprintf(&path, "%s/dlock.conf", xdg);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.config/dlock.conf", home);
	else
		return NULL;
	return n < 0 ? NULL : path;
}

static int check_trust(const struct reading *r)
{
	const char *path = r->file->path;
	uid_t owner = r->st.st_uid;

	if (!S_ISREG(r->st.st_mode))
		return fail(LEAVE_USAGE, "%s is not a regular file", path);
	if (owner != 0 && !r->file->of_user)
		return fail(LEAVE_USAGE,
			    "%s belongs to user %u and is not trusted: it must "
			    "be root's",
			    path, owner);
	if (owner != 0 && owner != geteuid())
		return fail(LEAVE_USAGE,
			    "%s belongs to user %u and is not trusted: it must "
			    "be yours or root's",
			    path, owner);
	if (r->st.st_mode & (S_IWGRP | S_IWOTH))
		return fail(LEAVE_USAGE,
			    "%s can be written by others and is not trusted: "
			    "chmod go-w %s",
			    path, path);
	return 0;
}

/* Open the file.  -1: there is no such file.  -2: the file was refused, *status
 * is set.  A FIFO does not block. */
static int open_file(struct reading *r, int *status)
{
	const char *path = r->file->path;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int why = errno;

	if (fd < 0 && (why == ENOENT || why == ENOTDIR))
		return -1;
	/* The home directory of a user that this process once was. */
	if (fd < 0 && r->file->of_user && why == EACCES &&
	    stat(path, &r->st) < 0)
		return -1;
	*status = 0;
	if (fd < 0)
		*status = fail(why == EACCES ? LEAVE_USAGE :
					       exit_for_errno(why),
			       "cannot read %s: %s", path, strerror(why));
	else if (fstat(fd, &r->st) < 0)
		*status = fail(LEAVE_SYSTEM, "%s: %s", path, strerror(errno));
	else
		*status = check_trust(r);
	if (*status == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -2;
}

static int wrong(const struct reading *r, const char *what)
{
	return fail(LEAVE_USAGE, "%s:%d: %s", r->file->path, r->line, what);
}

/* A line that is a bare URI may have the password ahead of the first '='. */
static int unknown_key(const struct reading *r, const char *key)
{
	const char *meant = nearest(key, keys);

	if (strpbrk(key, ":/@"))
		return wrong(r, "lines begin with \"uri =\" or \"require =\"");
	if (meant)
		return fail(LEAVE_USAGE,
			    "%s:%d: there is no setting \"%s\": did you mean "
			    "\"%s\"?",
			    r->file->path, r->line, key, meant);
	return fail(LEAVE_USAGE,
		    "%s:%d: there is no setting \"%s\": there are \"uri\" and "
		    "\"require\"",
		    r->file->path, r->line, key);
}

static int check_value(const struct reading *r, const char *value)
{
	char *copy;
	int hidden;

	if (!*value)
		return wrong(r, "the value is missing: remove the line, or "
				"write one");
	if (*value == '"' || *value == '\'')
		return wrong(r, "the value begins with a quotation mark: "
				"write it without");
	if (!(r->st.st_mode & (S_IRGRP | S_IROTH)))
		return 0;
	copy = strdup(value);
	if (!copy)
		return fail(LEAVE_SYSTEM, "out of memory");
	hidden = password_hide(copy);
	explicit_bzero(copy, strlen(copy));
	free(copy);
	return hidden ? wrong(r, "the URI has a password, and others may read "
				 "the file: chmod it to 600, or use the URI's "
				 "password_file=") :
			0;
}

/* Cut `line` into key and value; NULL and a message if the line is malformed.
 * A blank line leaves *key empty. */
static char *split(const struct reading *r, char *line, char **key)
{
	char *value, *end;

	*key = line + strspn(line, BLANKS);
	if (!**key || **key == '#')
		return *key = line + strlen(line);
	value = strchr(*key, '=');
	if (!value) {
		wrong(r, "there is no \"=\": lines are `key = value`");
		return NULL;
	}
	for (end = value; end > *key && strchr(BLANKS, end[-1]); end--)
		;
	*end = '\0';
	value++;
	value += strspn(value, BLANKS);
	for (end = value + strlen(value);
	     end > value && strchr(BLANKS, end[-1]); end--)
		;
	*end = '\0';
	return value;
}

static int take_line(struct reading *r, char *line, const char *wanted,
		     struct conf_value *out)
{
	char *key, *value = split(r, line, &key);
	size_t i = 0;
	int status;

	if (!value)
		return LEAVE_USAGE;
	if (!*key && !*value)
		return 0;
	while (keys[i] && strcmp(keys[i], key))
		i++;
	if (!keys[i])
		return unknown_key(r, key);
	if (r->seen[i])
		return fail(LEAVE_USAGE, "%s:%d: \"%s\" was set in line %d",
			    r->file->path, r->line, key, r->seen[i]);
	r->seen[i] = r->line;
	status = check_value(r, value);
	if (status || strcmp(key, wanted))
		return status;
	out->line = r->line;
	out->text = strdup(value);
	return out->text ? 0 : fail(LEAVE_SYSTEM, "out of memory");
}

static int read_lines(struct reading *r, FILE *f, const char *wanted,
		      struct conf_value *out)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int status = 0;

	while (status == 0 && (n = getline(&line, &size, f)) >= 0) {
		r->line++;
		if (memchr(line, '\0', (size_t)n))
			status = wrong(r, "there is a NUL in it");
		else
			status = take_line(r, line, wanted, out);
	}
	if (status == 0 && ferror(f))
		status = fail(LEAVE_SYSTEM, "cannot read %s: %s", r->file->path,
			      strerror(errno));
	if (line)
		explicit_bzero(line, size);
	free(line);
	return status;
}

int conf_find(const struct conf_file *file, const char *key,
	      struct conf_value *out)
{
	struct reading r = { .file = file };
	int status = 0, fd = open_file(&r, &status);
	FILE *f;

	*out = (struct conf_value){ 0 };
	if (fd < 0)
		return status;
	f = fdopen(fd, "r");
	if (!f) {
		status = fail(LEAVE_SYSTEM, "cannot read %s: %s", file->path,
			      strerror(errno));
		close(fd);
		return status;
	}
	status = read_lines(&r, f, key, out);
	fclose(f);
	if (status == 0)
		return 0;
	if (out->text)
		explicit_bzero(out->text, strlen(out->text)); /* a password */
	free(out->text);
	*out = (struct conf_value){ 0 };
	return status;
}
