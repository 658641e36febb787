#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCES PROGRAMS - run every example as its first lines say, in the
# store of the last URI in DLOCK_TEST_URIS.
#
# SOURCES is examples/, PROGRAMS where they are built; DLOCK_BIN is the command.
set -u
export LC_ALL=C

sources=$1 programs=$2
dir=$(mktemp -d "${TMPDIR:-/tmp}/dlock-examples.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"
ln -s "$DLOCK_BIN" "$dir/bin/dlock"
PATH=$dir/bin:$PATH
uri=${DLOCK_TEST_URIS##* }
# A short lease: some of them are killed.
case $uri in
*\?*) uri="$uri&ttl=3s" ;;
*) uri="$uri?ttl=3s" ;;
esac
export DLOCK_URI=$uri

# Nothing outlives the example that started it.
stop_all() {
	set +e
	jobs -p | xargs -r kill -KILL 2> /dev/null
	wait
}

# eventually COMMAND... - until it succeeds, for 30 seconds at most
eventually() {
	local end=$((SECONDS + 30))
	until "$@" 2> /dev/null; do
		if [ $SECONDS -gt $end ]; then
			echo "never came true: $*"
			return 1
		fi
		sleep 0.02
	done
}

# start LOG COMMAND... - in the background; its pid is in $pid
start() {
	local log=$1
	shift
	# Without <&0 it would have /dev/null.
	"$@" <&0 > "$log" 2>&1 &
	pid=$!
}

gone() { ! kill -0 "$1"; }

# ends PID STATUS - it ends so
ends() {
	local status=0
	eventually gone "$1"
	wait "$1" || status=$?
	[ "$status" = "$2" ] || echo "exit status $status, not $2"
	[ "$status" = "$2" ]
}

# lacks TEXT FILE
lacks() {
	if grep -q "$1" "$2"; then
		echo "$2 has '$1'"
		return 1
	fi
}

token() { sed -n 's/.*token \([0-9]*\)$/\1/p' "$1" | head -n 1; }

singleton() {
	start a "$programs/singleton" one
	local a=$pid
	eventually grep -q working a
	start b "$programs/singleton" one
	local b=$pid
	eventually grep -q "standing by" b
	lacks working b
	kill -KILL "$a"
	eventually grep -q working b
	[ "$(token b)" -gt "$(token a)" ]
	dlock break -y one
	ends "$b" 75
	grep -q "was lost" b
}

leader() {
	start a "$programs/leader" led 30 3
	local a=$pid
	start b "$programs/leader" led 30 3
	ends "$a" 0
	ends "$pid" 0
	[ "$(grep -h leading a b | sort -u | wc -l)" = 6 ]
	[ "$(grep -c resigning a)" = 3 ]
	start c "$programs/leader" led 60000 1
	eventually grep -q leading c
	dlock break -y led
	ends "$pid" 0
	grep -q "deposed: .*led" c
}

jobs_() {
	mkdir queue
	for i in $(seq 20); do : > queue/$i; done
	printf '#!/bin/sh\nbasename "$1" >> did\n' > work
	chmod +x work
	local workers=()
	for i in 1 2 3; do
		start worker$i "$programs/jobs" queue ./work
		workers+=("$pid")
	done
	for pid in "${workers[@]}"; do ends "$pid" 0; done
	[ -z "$(ls queue)" ]
	[ "$(sort did | uniq | wc -l)" = 20 ]
	[ "$(wc -l < did)" = 20 ]
	[ "$(cat worker? | awk '{ n += $1 } END { print n }')" = 20 ]
	# What fails stays in the queue.
	: > queue/again
	start failing "$programs/jobs" queue false
	ends "$pid" 0
	[ -e queue/again ]
}

# How many run at a time: the most that one of them has seen.
make_counted() {
	mkdir running
	cat > counted <<'END'
#!/bin/sh
mkdir running/$$
ls running | wc -l >> seen
sleep 0.1
rmdir running/$$
END
	chmod +x counted
}

downloads() {
	make_counted
	start a "$programs/downloads" 2 ./counted u1 u2 u3
	local a=$pid
	start b "$programs/downloads" 2 ./counted u4 u5 u6
	ends "$a" 0
	ends "$pid" 0
	[ "$(wc -l < seen)" = 6 ]
	[ "$(sort -n seen | tail -n 1)" -le 2 ]
	start c "$programs/downloads" 2 false u7
	ends "$pid" 69
	start d "$programs/downloads" 2 ./nothing u8
	ends "$pid" 69
	grep -q "nothing: No such file" d
}

# fenced PROGRAM FILE - a holder that lost its lock writes too late.
fenced() {
	mkfifo in
	exec 8<> in
	start a "$programs/$1" row "$2" < in
	local a=$pid
	eventually grep -q token a
	dlock break -y row
	echo new | "$programs/$1" row "$2"
	echo old >&8
	ends "$a" 75
	grep -q refused a
	echo newer | "$programs/$1" row "$2"
	start b "$programs/$1" row "$2" < /dev/null
	ends "$pid" 66
	grep -q "no input" b
}

fence_file() {
	fenced fence-file resource
	[ "$(tail -n 1 resource)" = newer ]
}

fence_row() {
	fenced fence-row resource.db
	[ "$(python3 -c 'import sqlite3
for row in sqlite3.connect("resource.db").execute("SELECT value FROM fenced"):
	print(row[0].strip())')" = newer ]
}

# The program blocks SIGTERM or has a handler, and sleeps.  Before it sleeps, it
# may still have the handlers of the shell that it replaces.
hears_signals() {
	local state mask
	[[ $(readlink "/proc/$1/exe") != */bash ]] || return
	state=$(< "/proc/$1/status")
	[[ $state == *$'\n'State:$'\t'S* ]] || return
	for mask in $(sed -n 's/^Sig\(Blk\|Cgt\):\t//p' <<< "$state"); do
		((0x$mask & 0x4000)) && return
	done
	return 1
}

# A program that holds NAME until SIGTERM or a loss.
holds_in_loop() {
	if [ ! -x "$1" ]; then
		echo "not built: ${1##*/} needs the library of that loop"
		return 1
	fi
	start a "$1" loop
	local a=$pid
	eventually grep -q holding a
	start b "$1" loop
	local b=$pid
	# Ends while it waits for the lock, too.
	start c "$1" loop
	eventually hears_signals "$pid"
	kill -TERM "$pid"
	ends "$pid" 0
	grep -q cancelled c
	lacks holding b
	lacks holding c
	kill -TERM "$a"
	ends "$a" 0
	grep -q released a
	eventually grep -q holding b
	dlock break -y loop
	ends "$b" 75
	grep -q "was lost" b
}

epoll() { holds_in_loop "$programs/epoll"; }
libevent() { holds_in_loop "$programs/libevent"; }
glib() { holds_in_loop "$programs/glib"; }
sd_event() { holds_in_loop "$programs/sd-event"; }

uv() {
	if [ ! -x "$programs/uv" ]; then
		echo "not built, for want of libuv (Debian's libuv1-dev)"
		return 1
	fi
	make_counted
	start a "$programs/uv" 2 ./counted 1 2 3 4 5
	ends "$pid" 0
	[ "$(wc -l < seen)" = 5 ]
	[ "$(sort -n seen | tail -n 1)" = 2 ]
	# Two programs, a lock for each name: never twice at once.
	printf '#!/bin/sh\nmkdir "at.$1" && sleep 0.1 && rmdir "at.$1"\n' > alone
	chmod +x alone
	start b "$programs/uv" 3 ./alone 1 2 3
	local b=$pid
	start c "$programs/uv" 3 ./alone 3 2 1
	ends "$b" 0
	ends "$pid" 0
	# What fails is no matter of the others.
	start d "$programs/uv" 1 ./nothing 1 2
	ends "$pid" 75
	[ "$(grep -c "no such file" d)" = 2 ]
	start e "$programs/uv" 1 rmdir none also-none
	ends "$pid" 75
	[ "$(grep -c "^rmdir" e)" = 2 ]
	start f "$programs/uv" 0 true 1
	ends "$pid" 64
}

ask_prefork() {
	local line
	exec 5<> "/dev/tcp/$1/$2" && read -r line <&5 && echo "$line"
}

# Connections that end before the answer.
be_impatient() {
	python3 - "$1" "$2" <<- 'END'
	import socket, struct, sys
	for _ in range(40):
	    s = socket.create_connection(sys.argv[1:])
	    s.shutdown(socket.SHUT_WR)
	    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
	                 struct.pack("ii", 1, 0))
	    s.close()
	END
}

prefork() {
	start address "$programs/prefork" 3 numbers
	local host port asking=()
	eventually test -s address
	read -r host port < address
	for i in $(seq 30); do
		ask_prefork "$host" "$port" > got.$i &
		asking+=($!)
	done
	for i in "${asking[@]}"; do ends "$i" 0; done
	[ "$(sort -un got.* | wc -l)" = 30 ]
	[ "$(sort -n got.* | tail -n 1)" = 30 ]
	be_impatient "$host" "$port"
	[ "$(ask_prefork "$host" "$port")" -gt 30 ]
	kill -TERM "$pid"
	ends "$pid" 143
	DLOCK_URI=nostore: start none "$programs/prefork" 2 numbers
	ends "$pid" 69
	grep -q nostore none
	refused() { ! ask_prefork "$host" "$port"; }
	eventually refused
}

graceful() {
	start a "$programs/graceful" step
	local a=$pid
	eventually grep -q working a
	start b "$programs/graceful" step
	local b=$pid
	eventually grep -q waiting b
	kill -TERM "$b"
	ends "$b" 0
	grep -q ECANCELED b
	start c "$programs/graceful" step
	eventually grep -q waiting c
	kill -TERM "$a"
	ends "$a" 0
	grep -q "last step done" a
	eventually grep -q working c
	dlock break -y step
	ends "$pid" 75
	grep -q ELOST c
}

rehearse() {
	"$programs/rehearse" > rehearsed
	[ "$(grep -c PASS rehearsed)" = 5 ]
}

transfer() {
	echo 100 > one
	echo 100 > two
	local all=()
	for i in $(seq 6); do
		start t$i "$programs/transfer" one two 3
		all+=("$pid")
		start u$i "$programs/transfer" two one 5
		all+=("$pid")
	done
	for pid in "${all[@]}"; do ends "$pid" 0; done
	[ "$(cat one two | paste -sd ' ')" = "112 88" ]
	start t "$programs/transfer" one two 113
	ends "$pid" 69
	grep -q "not that much" t
	[ "$(cat one)" = 112 ]
}

increments() {
	local all=()
	for i in 1 2 3; do
		start i$i dlock run sum -- "$programs/increment" sum
		all+=("$pid")
	done
	for pid in "${all[@]}"; do ends "$pid" 0; done
	[ "$(tr -d ' ' < sum)" = 3 ]
}

nightly_sh() {
	mkdir reports
	printf '#!/bin/sh\necho ran >> ran\nsleep 0.2\ndate\n' > report
	chmod +x report
	local all=()
	for i in 1 2 3 late; do
		start n$i "$sources/scripts/nightly.sh" reports ./report
		all+=("$pid")
		[ $i != 3 ] || for pid in "${all[@]}"; do ends "$pid" 0; done
	done
	ends "$pid" 0
	# Two if it was midnight.
	[ "$(wc -l < ran)" = "$(find reports -type f | wc -l)" ]
	[ -s "$(find reports -type f | head -n 1)" ]
}

rolling_sh() {
	make_counted
	local all=()
	for i in 1 2 3 4; do
		start r$i "$sources/scripts/rolling.sh" 2 ./counted
		all+=("$pid")
	done
	for pid in "${all[@]}"; do ends "$pid" 0; done
	[ "$(wc -l < seen)" = 4 ]
	[ "$(sort -n seen | tail -n 1)" -le 2 ]
	start r "$sources/scripts/rolling.sh" 2 sh -c 'exit 9'
	ends "$pid" 9
	grep -q "exited with 9" r
	for i in 1 2; do
		start h$i dlock run -S 2 rolling -- \
			sh -c 'echo working; exec sleep 60'
		eventually grep -q working h$i
	done
	WAIT=0.1 start late "$sources/scripts/rolling.sh" 2 touch ran
	ends "$pid" 99
	grep -q "2 others took too long" late
	[ ! -e ran ]
}

publish_sh() {
	mkdir site v1 v2
	echo 1 > v1/page
	echo 2 > v2/page
	"$sources/scripts/publish.sh" v1 site
	[ "$(cat site/current/page)" = 1 ]
	"$sources/scripts/publish.sh" v2 site
	[ "$(cat site/current/page)" = 2 ]
	# One that had the lock long ago.
	start late env DLOCK_NAME=publish DLOCK_TOKEN=1 \
		"$sources/scripts/publish.sh" v1 site
	ends "$pid" 75
	grep -q refused late
	[ "$(cat site/current/page)" = 2 ]
	[ ! -e site/1 ]
}

short() {
	local file most n=0
	for file in "$sources"/*.c "$sources"/*.cpp "$sources"/scripts/*; do
		n=$((n + 1)) most=79
		case ${file##*/} in
		uv.c | libevent.c | glib.c | sd-event.c) most=99 ;;
		esac
		[ "$(wc -l < "$file")" -le $most ] ||
			echo "$file has more than $most lines"
		[ "$(wc -l < "$file")" -le $most ]
	done
	[ $n -ge 14 ]
}

passed=0 failed=0 skipped=0
example() {
	local name=$1
	mkdir "$dir/$name"
	# -e is off in what && tests: a process of its own, waited for.
	(
		set -e
		trap stop_all EXIT
		cd "$dir/$name"
		"$name"
	) < /dev/null > "$dir/$name.log" 2>&1 &
	if wait $!; then
		echo "PASS: $name"
		passed=$((passed + 1))
	else
		echo "FAIL: $name"
		tail -n 30 "$dir/$name.log" | sed 's/^/\t/'
		(cd "$dir/$name" && find . -maxdepth 1 -type f -size -4k \
			-exec head -n 5 {} +) | sed 's/^/\t/'
		failed=$((failed + 1))
	fi
}

# built PROGRAM FUNCTION - one that not every build has
built() {
	if [ -x "$programs/$1" ]; then
		example "$2"
	else
		echo "SKIP: $1 is not built here"
		skipped=$((skipped + 1))
	fi
}

for name in short singleton leader jobs_ downloads fence_file epoll libevent glib sd_event uv \
	prefork graceful rehearse increments nightly_sh rolling_sh publish_sh; do
	example $name
done
built fence-row fence_row
built transfer transfer
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
