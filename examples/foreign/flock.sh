#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# flock.sh [DIRECTORY] - flock(1) for `dlock compare --foreign`.
#
# The lock is that of a descriptor of this shell, so it ends with the shell.
dir=${1:-${TMPDIR:-/tmp}}
echo "ready $(flock --version)"
while read -r verb name_ ms; do
	case $verb in
	acquire)
		name=$name_
		exec 9> "$dir/foreign-$name.lock" || exit 1
		if [ "$ms" -lt 0 ]; then
			flock 9
		elif [ "$ms" -eq 0 ]; then
			flock -n 9
		else
			flock -w "$((ms / 1000)).$(printf %03d $((ms % 1000)))" 9
		fi && echo ok || echo busy
		;;
	release)
		flock -u 9 && echo ok || echo "error flock -u failed"
		;;
	token) echo none ;;
	quit) break ;;
	*) echo "unsupported $verb" ;;
	esac
done
