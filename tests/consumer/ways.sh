#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ways.sh - for the scripts about users, which source it: a directory, $dir, and
# what they try there and count.
export LC_ALL=C
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-2}"

# ways_begin [DIR] - $dir is DIR, emptied; or a new one, removed at the end
ways_begin() {
	if [ $# = 1 ]; then
		dir=$1
		rm -rf "$dir"
		mkdir -p "$dir" || exit 1
	else
		dir=$(mktemp -d "${TMPDIR:-/tmp}/dlock-consumer.XXXXXX") || exit 1
		trap 'rm -rf "$dir"' EXIT
	fi
}

passed=0 failed=0 skipped=0

# way NAME COMMAND... - its output kept for failures; 77 is a skip.  -e is in
# force in it, which it would not be if this were a condition.
way() {
	name=$1 start=$(date +%s)
	shift
	( set -e; cd "$dir"; "$@" ) > "$dir/log" 2>&1 < /dev/null
	rc=$?
	if [ $rc = 0 ]; then
		echo "PASS: $name ($(($(date +%s) - start)) s)"
		passed=$((passed + 1))
	elif [ $rc = 77 ]; then
		echo "SKIP: $name"
		skipped=$((skipped + 1))
	else
		echo "FAIL: $name"
		sed 's/^/\t/' "$dir/log"
		failed=$((failed + 1))
	fi
}

# said SENTENCE - is it in the input, however CMake broke it into lines?
said() {
	tr -s '\n ' '  ' | grep -qF -e "$1"
}

# The last line, and the script's answer.
ways_end() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
