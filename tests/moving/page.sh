#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh PAGE DLOCK EXAMPLES - run every command of docs/moving.md, with places
# of our own for the stores and files that it names; and see that the program of
# step 1 and the nested commands keep out holders in either store.
set -eu
page=$1
PATH=$(dirname "$2"):$3:$PATH
dir=$(mktemp -d)
trap 'exec 3>&-; rm -rf "$dir"' EXIT
cd "$dir"
fail() {
	echo "page: $*"
	exit 1
}

OLD=file://$dir/old NEW=file://$dir/new
export OLD NEW
# What it runs: are both locks held?
cat > report.sh << 'END'
#!/bin/sh
echo "$DLOCK_NAME $DLOCK_TOKEN" >> ran
END
chmod +x report.sh

sed -n 's/^    //p' "$page" |
	sed "s|file:///var/lock/app|file://$dir/old|g; s|/var/lock/|$dir/|g
		s|redis://127.0.0.1:6379/0|file://$dir/new|g
		s|build/demo/examples/||" > commands
n=$(wc -l < commands)
[ "$n" -ge 3 ] || fail "found only $n commands in $page"
while read -r command; do
	sh -c "$command" < /dev/null > out 2>&1 ||
		fail "'$command' failed: $(cat out)"
done < commands
[ "$(wc -l < ran)" = 2 ] || fail "a command did not come to the report"
awk '$2 < 1600000000000000 || $1 !~ /nightly$/ { exit 1 }' ran ||
	fail "no token in microseconds: $(cat ran)"

# The nested commands hold both.
cat > report.sh << 'END'
#!/bin/sh
for uri in "$OLD" "$NEW"; do
	status=0
	dlock run -n -u "$uri" billing/nightly -- true || status=$?
	echo "$status" >> busy
done
END
nested=$(grep '^dlock run .*dlock run' commands) || fail "no nested commands"
sh -c "$nested" || fail "'$nested' failed"
[ "$(tr '\n' ' ' < busy)" = "1 1 " ] || fail "not busy: $(cat busy)"

# Both forms at once, each waits for the other and ends.
: > report.sh
(
	for i in 1 2 3 4 5 6 7 8; do
		timeout 60 sh -c "$nested" || echo "nested $i" >> stuck
	done
) &
nesting=$!
for i in 1 2 3 4 5 6 7 8; do
	rollout billing/nightly < /dev/null > out 2>&1 ||
		echo "rollout $i: $(cat out)" >> stuck
done
wait $nesting
[ ! -e stuck ] || fail "both forms at once: $(cat stuck)"

# So does the program, and its tokens rise with each holder.
mkfifo in
rollout billing/nightly < in > first &
program=$!
exec 3> in
while ! [ -s first ]; do
	kill -0 $program || fail "rollout ended"
	sleep 0.1
done
for uri in "$OLD" "$NEW"; do
	[ -z "$(OLD=$uri NEW=file://$dir/third timeout 0.5 \
		rollout billing/nightly < /dev/null)" ] ||
		fail "$uri is not held"
done
exec 3>&-
wait $program
rollout billing/nightly < /dev/null > second
paste -d ' ' first second | awk '{ exit !($1 < $3 && $2 < $4) }' ||
	fail "tokens: $(cat first) then $(cat second)"
echo "$n commands, 0 failed"
