#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# canary.sh - fails one time in a hundred, by intent: that repeats happen, and
# are counted, is then to be seen in what scripts/test --all prints.
[ $(($(od -An -N2 -tu2 /dev/urandom) % 100)) != 0 ] || {
	echo "FAIL: the canary, as it does one time in a hundred"
	exit 1
}
