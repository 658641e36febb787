#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening.sh LIBRARY COMMAND - do they carry what the release flags promise?
set -u
export LC_ALL=C

library=$1 command=$2
bad=0

# has FILE TEXT OPTION PATTERN - a readelf OPTION of FILE shows PATTERN
has() {
	if readelf -W "$3" "$1" | grep -Eq "$4"; then
		echo "PASS: ${1##*/}: $2"
	else
		echo "FAIL: ${1##*/}: $2 (readelf $3 shows no $4)"
		bad=1
	fi
}

hasnt() {
	if readelf -W "$3" "$1" | grep -Eq "$4"; then
		echo "FAIL: ${1##*/}: $2 (readelf $3 shows $4)"
		bad=1
	else
		echo "PASS: ${1##*/}: $2"
	fi
}

for file in "$library" "$command"; do
	has "$file" "position independent" -h 'Type: +DYN'
	has "$file" "relocations read-only" -l 'GNU_RELRO'
	has "$file" "bound at start" -d 'BIND_NOW|FLAGS_1.* NOW'
	has "$file" "stack protector" --dyn-syms '__stack_chk_fail'
	has "$file" "fortified" --dyn-syms '__[a-z]+_chk(@| |$)'
	hasnt "$file" "stack not executable" -l 'GNU_STACK.* RWE'
	hasnt "$file" "no text relocations" -d 'TEXTREL'
done
has "$library" "never unloaded" -d 'FLAGS_1.*NODELETE'
has "$command" "PIE" -d 'FLAGS_1.*PIE'
exit $bad
