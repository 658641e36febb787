#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh - can run.sh run each block of the pages?  Compiles the programs, and
# looks whether a block of commands begins with a command; runs nothing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/plan.sh"
plan=$(mktemp -d) || exit 1
trap 'rm -rf "$plan"' EXIT
cd "$source" || exit 1

# Commands that a package of run.sh brings, or the build.
later=" dlock dlock-conform dlock-bench sudo report rebuild dpkg-buildpackage "

# A result that is ignored is found only when code is made.
strict=(-c -o /dev/null -Wall -Werror -Wno-unused-function)

# is_command FILE
is_command() {
	local first
	first=$(grep -v '^#' "$1" | head -n 1)
	while [[ $first =~ ^[A-Z_]+=[^\ ]*\ +(.*) ]]; do
		first=${BASH_REMATCH[1]}
	done
	first=${first%%[ \;]*}
	bash -n "$1" && { [[ $later == *" $first "* || $first == build/* ]] ||
		type "$first" > /dev/null 2>&1; }
}

# is_fine NUMBER HOW FRAME
is_fine() {
	local file=$plan/$1
	if [ "$3" != - ]; then
		sed -e "/@@/{r $plan/$1" -e 'd;}' "$here/frames/$3.in" \
			> "$file.whole" || return 1
		file=$file.whole
	fi
	case $2 in
	shown | redis-cli | crontab) ;;
	sh) is_command "$file" ;;
	c) cc "${strict[@]}" -Iinclude -x c "$file" ;;
	cpp) c++ -std=c++17 "${strict[@]}" -Iinclude -x c++ "$file" ;;
	python) python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
		"$file" ;;
	*) false ;;
	esac
}

mapfile -t pages < <(all_pages)
make_plan "${pages[@]}"
bad=$(
	sort -u "$plan/turns" | while read -r number _; do
		IFS=$'\t' read -r page heading how frame _ < "$plan/$number.how"
		is_fine "$number" "$how" "$frame" > "$plan/said" 2>&1 || {
			echo "$page: $heading: no $how: $(head -n 1 "$plan/$number")"
			cat "$plan/said"
		}
	done
	stale "${pages[@]}" | sed 's/^/in blocks.list, but in no page: /'
)
[ -z "$bad" ] || echo "$bad"
[ -z "$bad" ]
