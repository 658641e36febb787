#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh MODEL.pml - check a Promela model and its broken variants with spin.
#
# Each check below is a set of definitions; after "ok" no error may be found,
# after "broken" one must be.  $CC compiles the verifiers, but clang those of
# broken variants, if it is there: it takes half the time.
set -u

model=$(realpath "$1") || exit 1
command -v spin > /dev/null || {
	echo "model: spin is not installed"
	exit 77
}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0
quick=${CC:-cc}
command -v tcc > /dev/null && quick=tcc
# Most errors are found early by a search that begins with the first process.
order=-DREVERSE

check() {
	want=$1
	shift
	# To compile a verifier well takes longer than most errors to find, and
	# -O2 takes longer than it saves.
	how="${CC:-cc} -Og" table=-w24
	[ "$want" = ok ] || how="$quick -O0 $order" table=-w20
	rm -f pan pan.*
	# shellcheck disable=SC2086 # a word each
	if ! spin -a "$@" "$model" > log 2>&1 ||
		! $how -w -DSAFETY -DMEMLIM=4096 -DVECTORSZ=2048 \
			-o pan pan.c >> log 2>&1; then
		cat log
		failed=1
		return
	fi
	./pan -m1000000 $table > log 2>&1
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' log)
	states=$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' log)
	verdict=FAIL
	case $want:${errors:-none} in
	ok:0)
		# A search that was cut short proves nothing.
		grep -q 'search not completed\|max search depth too small' \
			log || verdict=ok
		;;
	broken:[1-9]*) verdict=ok ;;
	esac
	[ $verdict = ok ] || {
		failed=1
		cat log
	}
	echo "$verdict: $want, ${errors:-no} errors, ${states:-?} states: $*"
}

case $(basename "$model" .pml) in
drive)
	check ok
	check ok -DROUNDS=2 -DCALM
	for flaw in COUNTED SET OFF CALLBACK LEAVE; do
		check broken -DBREAK_$flaw
	done
	order=
	for flaw in CHECK TWICE WRONG CANCEL KEPT AWAIT; do
		check broken -DBREAK_$flaw
	done
	;;
pump)
	check ok
	check ok -DN=3 -DROUNDS=1
	for flaw in GIVE EDGE DEAF TAKE LATE KEEP; do
		check broken -DBREAK_$flaw
	done
	;;
wanted)
	check ok
	check ok -DRANGE=1
	for flaw in EARLY LOOK KICK SLEEP PARKED GONE TOKEN; do
		check broken -DBREAK_$flaw
	done
	;;
zk-lease)
	check ok
	check ok -DEND=12
	for flaw in TWO THREE GAP PAUSE SECOND THIRD READ SYNC EARLY; do
		check broken -DBREAK_$flaw
	done
	check broken -DSTOPS=2
	;;
*)
	echo "model: nobody says how to check $1"
	exit 1
	;;
esac
exit $failed
