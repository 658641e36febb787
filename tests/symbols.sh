#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh HEADERS SHARED STATIC - the symbols that the libraries export.
#
# The shared library: exactly the functions that the public headers declare with
# DLOCK_API.  The static library: nothing that could clash with a program's own.
set -eu
export LC_ALL=C

headers=$1 shared=$2 static=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/dlock-symbols.XXXXXX")
trap 'rm -rf "$dir"' EXIT
bad=0

# complain TEXT FILE - one culprit a line in FILE, if there are any
complain() {
	[ -s "$2" ] || return 0
	echo "$1:"
	sed 's/^/\t/' "$2"
	bad=1
}

cat "$headers"/*.h | tr '\n\t' '  ' | sed 's/DLOCK_API/\n&/g' |
	sed -n 's/^DLOCK_API [^(;]*[ *]\(dl[a-z]*_[a-z0-9_]*\)(.*/\1/p' |
	sort -u > "$dir/declared"
nm -D --defined-only "$shared" | awk '{ print $NF }' | sort -u > "$dir/shared"
nm -g --defined-only "$static" 2>/dev/null | awk 'NF == 3 { print $3 }' |
	grep -v '^\(dlock\|dlk\|dlki\)_' > "$dir/foreign" || true

for list in declared shared; do
	if [ ! -s "$dir/$list" ]; then
		echo "no symbols $list: the check itself is broken"
		exit 1
	fi
done
comm -13 "$dir/declared" "$dir/shared" > "$dir/extra"
comm -23 "$dir/declared" "$dir/shared" > "$dir/missing"
complain "exported, but in no public header" "$dir/extra"
complain "declared, but not exported" "$dir/missing"
complain "global in the static library, without our prefix" "$dir/foreign"
[ $bad = 0 ] && echo "$(wc -l < "$dir/declared") symbols, as declared"
exit $bad
