/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <criterion/criterion.h>

json_t *parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);

	cr_assert(value, "%s in: %s", error.text, text);
	return value;
}

const char *string_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "(missing)";
}
