#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rolling.sh PERMITS COMMAND... - on every host at once: run COMMAND, say a
# restart, on at most PERMITS hosts at a time.  $WAIT: the seconds to wait for a
# permit, else an hour.
#
# The exit status tells what went wrong: see dlock(1).  -E: that of a wait that
# was too long, which is the command's otherwise.
set -u

permits=$1
shift
dlock run -S "$permits" -w "${WAIT:-3600}" -E 99 rolling -- "$@"
status=$?
case $status in
0) ;;
99) echo "rolling.sh: $permits others took too long; nothing was run" ;;
69) echo "rolling.sh: the store gave no answer; nothing was run" ;;
75) echo "rolling.sh: the permit was lost; the command was stopped" ;;
*) echo "rolling.sh: $1 exited with $status" ;;
esac >&2
exit $status
