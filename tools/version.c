/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "message.h"
#include "options.h"
#include "usage.h"

static int version_main(const struct command *self, int argc, char **argv)
{
	struct options o;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args > 0)
		return fail(LEAVE_USAGE, "dlock version takes no argument");
	return print_version();
}

const struct command cmd_version = {
	.name = "version",
	.args = "",
	.summary = "print the version of the library",
	.text = "Prints the version of the library that the command uses.\n",
	.options = no_options,
	.main = version_main,
};
