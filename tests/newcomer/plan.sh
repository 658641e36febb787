# SPDX-License-Identifier: Apache-2.0
# plan.sh - sourced: the pages, their blocks of code, and how each is run.
#
# Takes $here, this directory; $source, the tree, and $plan, a directory for the
# blocks.

# all_pages [--short] - in the order in which they are run: the pages that take
# minutes come last, or not at all
all_pages() (
	cd "$source" || exit 1
	slow='docs/(benchmarks|compare|comparison).md'
	echo README.md
	find docs -maxdepth 1 -name '*.md' | sort |
		grep -vE "$slow|docs/first-run.md"
	ls docs/man/*.[1-8]
	[ $# -gt 0 ] ||
		find docs -maxdepth 1 -name '*.md' | sort | grep -E "$slow"
)

# word WORD - is it one of those of the block?
word() { [[ " $words " == *" $1 "* ]]; }

# make_plan PAGE... - the blocks of the pages, in $plan: NUMBER, NUMBER.how; and which to run, and
# where, in "turns": a line each of NUMBER and "net" or "alone".
make_plan() {
	local page number heading language first how frame reason words n=0
	local later=() last=() owner=''
	: > "$plan/turns"
	for page in "$@"; do
		later=()
		while IFS=$'\t' read -r number _ heading language first; do
			n=$((10#$number))
			look_up "$page" "$first"
			how=$language
			for word in crontab redis-cli c cpp python shown; do
				! word $word || how=$word
			done
			frame=-
			[[ $words != *frame=* ]] || {
				frame=${words#*frame=}
				frame=${frame%% *}
			}
			printf '%s\t%s\t%s\t%s\t%s\n' "$page" "$heading" \
				"$how" "$frame" "$reason" > "$plan/$number.how"
			owner=alone
			! word net || owner=net
			if word last; then
				last+=("$number $owner")
			elif word later; then
				later+=("$number $owner")
			else
				echo "$number $owner" >> "$plan/turns"
			fi
		done < <(awk -v page="$page" -v dir="$plan" -v n=$n \
			-f "$here/blocks.awk" "$source/$page")
		printf '%s\n' "${later[@]}" >> "$plan/turns"
	done
	printf '%s\n' "${last[@]}" >> "$plan/turns"
	sed -i '/^$/d' "$plan/turns"
}

# look_up PAGE FIRST-LINE - $words and $reason of blocks.list; empty if it is
# not there
look_up() {
	local found
	found=$(awk -v page="$1" -v first="$2" -v used="$plan/used" '
		/^#/ || /^$/ { next }
		/^[^\t]/ {
			head = $0
			start = page ": "
			fits = index(head, start) == 1 &&
				index(first, substr(head, length(start) + 1)) == 1
			next
		}
		fits { print substr($0, 2); print head >> used }
	' "$here/blocks.list")
	words=${found%%: *}
	reason=${found#*: }
}

# stale PAGE... - records of the pages that fit no block
stale() {
	local page
	grep -v '^[#\t]' "$here/blocks.list" | grep . |
		grep -vxF -f "$plan/used" | while read -r head; do
		for page in "$@"; do
			[ "${head%%: *}" != "$page" ] || echo "$head"
		done
	done
}
