/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data on standard output: tables for people, JSON for programs.
 */
#ifndef DLOCK_TOOLS_PRINT_H
#define DLOCK_TOOLS_PRINT_H

#include <jansson.h>
#include <stddef.h>

#define TABLE_COLUMNS 8 /* at most */

/* Rows of cells.  Empty when zeroed but for `columns`.  An error on the way is
 * remembered, and table_print() reports it. */
struct table {
	size_t columns;
	size_t used, room; /* cells */
	char **cells;
	int failed;
};

/* Add a row of `columns` strings; they are copied, with escape(). */
void table_row(struct table *t, const char *first, ...);

/* Print the rows, columns aligned.  Returns finish_output()'s code. */
int table_print(const struct table *t);

void table_free(struct table *t);

/* Make a JSON string; text that is no UTF-8 goes through escape(). */
json_t *json_text(const char *text);

/* Print and free `value`, where NULL means out of memory.  Returns
 * finish_output()'s code. */
int json_print(json_t *value);

/* Flush standard output; `code`, or LEAVE_OUTPUT with a message if any output
 * was lost. */
int finish_output(int code);

#endif
