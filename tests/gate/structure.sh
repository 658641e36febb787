#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# structure.sh TREE - does the tree keep its own rules?  scripts/lint says more.
cd "$1" || exit 1
failed=0
for what in layers circles sizes words --self-test; do
	if ! scripts/lint-structure $what; then
		echo "FAIL: lint-structure $what"
		failed=$((failed + 1))
	fi
done
if ! tests/mutants/run --check; then
	echo "FAIL: mutants can be planted"
	failed=$((failed + 1))
fi
echo "$((6 - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ]
