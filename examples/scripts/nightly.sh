#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nightly.sh DIRECTORY COMMAND... - from cron on every host: one host writes
# COMMAND's report of the day into DIRECTORY, which all of them share.
#
#     0 3 * * *  DLOCK_URI=redis://cache/0 nightly.sh /srv/reports make-report
#
# -n: a host that comes while another is at it has nothing to do; -E 0: and that
# is no error.  A host whose clock is slow comes when the job is over: the lock
# does not keep it from a second one, the report does.
set -eu

[ "${DLOCK_NAME-}" = nightly ] || exec dlock run -n -E 0 nightly -- "$0" "$@"

report=$1/$(date +%F)
shift
[ ! -e "$report" ] || exit 0
"$@" > "$report.new"
mv "$report.new" "$report"
