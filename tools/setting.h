/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A setting with several places; the first counts: an option, an environment
 * variable that is not empty, the user's dlock.conf, the system's.
 */
#ifndef DLOCK_TOOLS_SETTING_H
#define DLOCK_TOOLS_SETTING_H

enum setting_id { SETTING_URI, SETTING_REQUIRE };

struct setting {
	char *text; /* NULL: set nowhere */
	char *from; /* "-u", "$DLOCK_URI", "/etc/dlock.conf:3" */
};

/* Find a setting; `option` is from the command line, or NULL.  0 and *out, to
 * be freed with setting_free(); or an exit code, with a message. */
int setting_find(struct setting *out, enum setting_id id, const char *option);

/* Free a setting; a zeroed setting is fine. */
void setting_free(struct setting *s);

#endif
