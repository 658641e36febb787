#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--short] DIR [PAGE...] - every command of README, docs and manual pages, run
# literally by a new user of a minimal Debian 12; prints a log of it.
#
# DIR is a Debian made by debootstrap --variant=minbase, with git; it is made if
# it is not there.  Exits with 1 if a command failed.  Needs root, debootstrap
# and a package mirror.  Apart from the installing of packages everything runs
# in a network of its own, where the servers have their default ports.
#
# --short leaves out the pages that measure and compare, for half an hour, and says so.
# With PAGEs only these, in a DIR where dlock is installed already.  The tree is
# cloned as it was last committed; commit a page before it is run.
set -u
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)

short=
[ "${1:-}" != --short ] || {
	short=--short
	shift
}
[ $# -ge 1 ] || {
	echo "usage: run.sh [--short] DIR [PAGE...]" >&2
	exit 2
}
[ "$(id -u)" = 0 ] || {
	echo "SKIP: needs root, for a Debian of its own"
	exit 77
}
# Mounts, host name and processes of its own: all of it ends with it.
if [ -z "${NEWCOMER:-}" ]; then
	export NEWCOMER=1
	[ -e "$1/etc/debian_version" ] ||
		debootstrap --variant=minbase --include=git,ca-certificates \
			bookworm "$1" > /dev/null || exit 1
	setpriv --pdeathsig KILL unshare --mount --propagation private --uts \
		--pid --fork --kill-child "$0" ${short:+"$short"} "$@"
	exit
fi

root=$(cd "$1" && pwd)
shift
. "$here/plan.sh"
pages=("$@")
[ $# -gt 0 ] || mapfile -t pages < <(all_pages $short)

# Packages that pages take for granted.
given=(sudo g++ redis-server memcached zookeeper jq man-db libsqlite3-dev)

trap 'exit 130' INT TERM
hostname debian
mount -t proc proc /proc
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
mkdir -m 1777 "$root/run/lock"
chmod 1777 "$root/tmp"
cp /etc/resolv.conf "$root/etc/"
printf '127.0.0.1 localhost debian\n::1 localhost\n' > "$root/etc/hosts"
# Of a mirror behind a proxy.
proxy=()
mapfile -t proxy < <(env | grep -iE '^(https?|no)_proxy=')

unshare --net sleep infinity &
net=$!
until nsenter -t $net -n ip link show lo > /dev/null 2>&1 &&
	[ "$(readlink /proc/$net/ns/net)" != "$(readlink /proc/self/ns/net)" ]
do
	kill -0 $net || exit 1
	sleep 0.1
done
nsenter -t $net -n ip link set lo up

# home_of USER - as the new Debian's passwd has it
home_of() { sed -n "s/^$1:.*:\([^:]*\):[^:]*$/\1/p" "$root/etc/passwd"; }

# as USER COMMAND... - in the Debian; "${way[@]}" is in front of it
way=()
as() {
	local home
	home=$(home_of "$1")
	"${way[@]}" chroot "$root" setpriv --reuid "$1" --regid "$1" \
		--init-groups env -i HOME="$home" USER="$1" TERM=dumb \
		LANG=C.UTF-8 LC_ALL=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"${proxy[@]}" "${@:2}"
}

in_net() {
	local way=(nsenter -t "$net" -n)
	as "$@"
}

prepare() {
	as root mkdir -p /etc/sudoers.d /etc/apt/apt.conf.d
	# Servers are started below, and not by their packages.
	printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
	chmod +x "$root/usr/sbin/policy-rc.d"
	echo 'APT::Get::Assume-Yes "true";' > "$root/etc/apt/apt.conf.d/99yes"
	{
		as root apt-get -q update &&
			as root env DEBIAN_FRONTEND=noninteractive apt-get -q \
				--no-install-recommends install "${given[@]}"
	} > "$root/var/log/given.log" 2>&1 || {
		cat "$root/var/log/given.log"
		exit 1
	}
	printf 'you ALL=(ALL) NOPASSWD: ALL\nDefaults env_keep += "%s"\n' \
		"http_proxy https_proxy no_proxy" > "$root/etc/sudoers.d/you"
	chmod 440 "$root/etc/sudoers.d/you"
	grep -q ^you: "$root/etc/passwd" || as root useradd -m -s /bin/bash you
	home=$(home_of you)
	rm -rf "$root/srv/dlock.git"
	git clone -q --bare "$source" "$root/srv/dlock.git"
}

# Programs of the reader's that pages have as an example.
stand_ins() {
	local name
	for name in report rebuild fetch bill; do
		printf '#!/bin/sh\necho "%s, token $DLOCK_TOKEN"\n' $name \
			> "$root/usr/local/bin/$name"
		chmod 755 "$root/usr/local/bin/$name"
	done
	cp "$root/usr/local/bin/bill" "$root/usr/bin/bill"
	as you cp /usr/local/bin/report "$home/dlock/report.sh"
}

# answers PORT - within a minute
answers() {
	local end=$((SECONDS + 60))
	until nsenter -t $net -n bash -c "exec 3<> /dev/tcp/127.0.0.1/$1" \
		2> /dev/null; do
		[ $SECONDS -lt $end ] || {
			echo "nothing answers on port $1"
			exit 1
		}
		sleep 0.2
	done
}

servers() {
	local log=$root/var/log
	mkdir -p "$root/var/lib/zookeeper"
	in_net redis redis-server --bind 127.0.0.1 --dir /var/lib/redis \
		> "$log/redis.out" 2>&1 &
	in_net memcache memcached -l 127.0.0.1 > "$log/memcached.out" 2>&1 &
	in_net zookeeper /usr/share/zookeeper/bin/zkServer.sh start-foreground \
		> "$log/zookeeper.out" 2>&1 &
	answers 6379
	answers 11211
	answers 2181
}

# Blocks that follow each other in one page and network share a shell.
play_all() {
	local number net_of page before='' numbers=()
	while read -r number net_of; do
		page=$(cut -f 1 "$plan/$number.how")
		if [ "$page $net_of" != "$before" ]; then
			play
			numbers=()
		fi
		before="$page $net_of"
		numbers+=("$number")
	done < "$plan/turns"
	play
}

play() {
	local enter=in_net
	[ ${#numbers[@]} -gt 0 ] || return
	[ "${before##* }" = alone ] || enter=as
	$enter you timeout 3600 "$home/plan/play.sh" "$home/plan" \
		"$started" "${numbers[@]}"
}

introduction() {
	cat << TEXT
# The first half hour

A log of a new user's first steps, on a minimal Debian 12 (debootstrap's minbase, with git). All blocks of commands in README.md,
the pages of docs/ and the examples of the manual pages were run literally, in the order shown; programs in C, C++ and Python were
compiled and run as their page says. \`tests/newcomer/run.sh\` made it on $(date -u '+%-d %B %Y'), of dlock $version. Figures in
it are those of a small machine that also did other work; [benchmarks.md](benchmarks.md) and [comparison.md](comparison.md) have
better ones.

Before it began:

- There was a user \`you\`, who may use sudo without a password, and whom apt-get does not ask before it installs.
- These were installed, which pages take for granted: ${given[*]}.
- redis-server, memcached and ZooKeeper ran, each on its default port of the loopback address.
- report.sh, report, rebuild, fetch and bill, which stand for your programs in the pages, print their name and \`\$DLOCK_TOKEN\`.

A command's exit status is shown if it is not 0, and its time if that is 3 s or more. Long output lacks its middle, and \`~\` stands
for the user's home directory. The times in the headings are minutes and seconds since the beginning.
${short:+
The pages that measure and compare, for half an hour, were left out: benchmarks.md, compare.md and comparison.md.
}
## Getting it (0:00)

\`\`\`text
\$ git clone -q /srv/dlock.git dlock
\$ cd dlock
TEXT
}

prepare
servers
plan=$root$home/plan
rm -rf "$plan"
mkdir "$plan"
cp -r "$here/play.sh" "$here/frames" "$plan"
make_plan "${pages[@]}"
version=$(sed -n 's/^#define DLOCK_VERSION_[A-Z]* //p' \
	"$source/include/dlock/dlock.h" | paste -s -d .)
as root chown -R you: "$home" /srv/dlock.git
started=$(date +%s)
introduction
as you rm -rf "$home/dlock"
as you git clone -q /srv/dlock.git "$home/dlock" || exit 1
stand_ins
play_all

old=$(stale "${pages[@]}")
failed=$(grep -vc '^0	' "$plan/done")
took=$(($(date +%s) - started))
printf '```\n\n## The end (%d:%02d)\n\n```text\n' $((took / 60)) $((took % 60))
echo "$(wc -l < "$plan/done") commands," \
	"$(grep -l '	shown	' "$plan"/*.how | wc -l) blocks that are none," \
	"$failed failed"
grep -v '^0	' "$plan/done" | expand
[ -z "$old" ] || printf 'In blocks.list, but in no page:\n%s\n' "$old"
echo '```'
kill $net
[ "$failed" = 0 ] && [ -z "$old" ]
