/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's JSON.
 */
#ifndef DLOCK_TESTS_CMD_JSON_H
#define DLOCK_TESTS_CMD_JSON_H

#include <jansson.h>

/* Parse `text`, or fail. Free with json_decref(). */
json_t *parse(const char *text);

/* Return the text of a member of `object`, or "(missing)". */
const char *string_at(const json_t *object, const char *key);

#endif
