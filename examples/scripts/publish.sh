#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# publish.sh SOURCE SITE - make a copy of the directory SOURCE the current one
# below SITE; publishers of all hosts take turns.
#
# A publisher that lost the lock on the way is refused, however late it comes:
# what was published last has a larger token than its own.  The comparison and
# the change are one, because SITE's host does them under its own flock(1).
set -eu

[ "${DLOCK_NAME-}" = publish ] || exec dlock run -w 600 publish -- "$0" "$@"

# This may take long.
copy=$2/$DLOCK_TOKEN
cp -R "$1" "$copy"
(
	flock 9
	read -r seen < "$2/token" || seen=0
	if [ "$DLOCK_TOKEN" -lt "$seen" ]; then
		echo "publish.sh: refused: $seen was published since" >&2
		rm -r "$copy"
		exit 75
	fi
	echo "$DLOCK_TOKEN" > "$2/token"
	ln -sfn "$DLOCK_TOKEN" "$2/current"
) 9>> "$2/token"
