#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh DLOCK BASH ZSH FISH - the completions in these files, by the shells.
#
# What they offer is compared with what DLOCK itself says that there is.  A shell
# that is not here is skipped.
set -u
export LC_ALL=C.UTF-8

dlock=$(realpath "$1")
declare -A file=([bash]=$(realpath "$2") [zsh]=$(realpath "$3") \
	[fish]=$(realpath "$4"))
here=$(cd "$(dirname "$0")" && pwd)

dir=$(mktemp -d "${TMPDIR:-/tmp}/dlock-completion.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -m 700 "$dir/locks" "$dir/others" "$dir/bin" "$dir/home"
ln -s "$dlock" "$dir/bin/dlock"
export PATH=$dir/bin:$PATH HOME=$dir/home DLOCK_URI=file://$dir/locks
unset DLOCK_BACKENDS XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR
cd "$dir" || exit 1

# offered SHELL LINE - sorted, without the texts beside them, and without the /
# that some of them put behind a directory at once, and some later, and the comma
# that zsh puts behind a member of a list until something else is typed
offered() {
	case $1 in
	bash) timeout 60 bash "$here/complete.bash" "${file[bash]}" "$2" ;;
	zsh) timeout 60 zsh -f "$here/complete.zsh" "${file[zsh]}" "$2" ;;
	fish)
		# shellcheck disable=SC2016 # fish expands it
		timeout 60 fish --no-config -c \
			'source $argv[1]; complete -C $argv[2]' \
			"${file[fish]}" "$2" | cut -f 1
		;;
	esac | sed 's|[/,]$||' | sort -u
}

passed=0 failed=0 skipped=0
pass() {
	echo "PASS: $1"
	passed=$((passed + 1))
}
fail() {
	echo "FAIL: $1"
	failed=$((failed + 1))
}

# is SHELL LINE WORD... - these words are offered and no others
is() {
	local shell=$1 line=$2
	shift 2
	printf '%s\n' "$@" | sed '/^$/d' | sort -u > "$dir/wanted"
	offered "$shell" "$line" > "$dir/offered" 2> "$dir/errors"
	if cmp -s "$dir/wanted" "$dir/offered" && [ ! -s "$dir/errors" ]; then
		pass "$shell: '$line'"
	else
		fail "$shell: '$line' (< wanted, > offered)"
		diff "$dir/wanted" "$dir/offered"
		cat "$dir/errors"
	fi
}

# has SHELL LINE WORD... - these words are, and perhaps others
has() {
	local shell=$1 line=$2 word
	shift 2
	offered "$shell" "$line" > "$dir/offered" 2> "$dir/errors"
	for word; do
		if ! grep -qxF -e "$word" "$dir/offered"; then
			fail "$shell: '$line' lacks $word, offers:"
			head -n 20 "$dir/offered"
			cat "$dir/errors"
			return
		fi
	done
	pass "$shell: '$line' has $*"
}

# The first column of the lists, cut by its place: not as the completions do it.
commands() { "$dlock" help | sed -n '3,/^$/s/^  //p' | cut -d ' ' -f 1; }
options() {
	"$dlock" help "$1" | sed '1,/^Options:/d' | cut -c 3-32 |
		tr ', ' '\n\n' | grep '^-'
}
schemes() { "$dlock" backends | awk '$2 == "yes" { print $1 }'; }
caps() {
	"$dlock" backends --json | tr -d ' ",' |
		sed -n '/^caps:\[/,/^\]/{/^[A-Z_]*$/p}' | sort -u
}

# shellcheck disable=SC2016 # a name like any other
names=(nightly billing/daily 'two words' "it's" '$(touch ran)' 'a\b"c' 'a=b:c')
# Kept, so that they stay listed when nobody uses them.
for name in "${names[@]}"; do
	"$dlock" run -u "$DLOCK_URI?keep_file=on" "$name" -- true || exit 1
done
"$dlock" run -u "file://$dir/others?keep_file=on" elsewhere -- true || exit 1

# What may be in the help of another version.
mkdir "$dir/later"
cat > "$dir/later/dlock" << 'END'
#!/bin/sh
[ "$*" = "help hold" ] && cat << 'HELP'
usage: dlock hold [-q] [--on-loss HOW] NAME

Options:
      --on-loss kill|term|warn   what becomes of the command
  -q, --quick                    [no] words: of text
      --a-name-that-is-too-long-for-it no argument
      --another-one-too-long-for-it DIR a directory
HELP
END
chmod +x "$dir/later/dlock"

mapfile -t all < <(commands)
mapfile -t schemes < <(schemes)
mapfile -t caps < <(caps)
[ ${#all[@]} -ge 8 ] || { echo "no commands: the test is broken"; exit 1; }
for shell in bash zsh fish; do
	if ! command -v $shell > /dev/null || { [ $shell = bash ] &&
		[ ! -e /usr/share/bash-completion/bash_completion ]; }; then
		echo "SKIP: $shell is not here"
		skipped=$((skipped + 1))
		continue
	fi
	is $shell 'dlock sh' show
	is $shell 'dlock --backend some.so sh' show
	is $shell 'dlock ' "${all[@]}"
	has $shell 'dlock -' --backend --help --version
	for command in "${all[@]}"; do
		mapfile -t wanted < <(options "$command")
		[ ${#wanted[@]} -ge 2 ] || fail "no options of $command"
		has $shell "dlock $command -" "${wanted[@]}"
		mapfile -t wanted < <(options "$command" | grep '^--')
		is $shell "dlock $command --" "${wanted[@]}"
	done
	is $shell 'dlock nonsense '
	is $shell 'dlock help ' "${all[@]}" exit
	is $shell 'dlock backends ' "${schemes[@]}"
	# Locks, of the store that the line names.
	is $shell 'dlock show ' "${names[@]}"
	is $shell 'dlock break -y n' nightly
	is $shell 'dlock permits ni' nightly
	is $shell 'dlock permits nightly '
	is $shell 'dlock permits nightly 5 --js' --json
	is $shell 'dlock break nightly -w 5 '
	is $shell 'dlock run -n two\ w' 'two words'
	is $shell 'dlock run -vw 5 b' billing/daily
	is $shell 'dlock show a=b:' a=b:c
	is $shell "dlock show -u file://$dir/others " elsewhere
	is $shell "dlock show --uri=file://$dir/others -v " elsewhere
	is $shell "dlock show -u file://$dir/others\\?keep_file=on\\&label=x " \
		elsewhere
	is $shell "dlock show -u file://$dir/nowhere "
	is $shell 'dlock show nightly '
	# What an option takes.
	is $shell 'dlock run -w '
	is $shell 'dlock run -nw '
	is $shell 'dlock run -u ' "${schemes[@]/%/:}"
	is $shell 'dlock run --uri=mem' --uri=mem: --uri=memcached: \
		--uri=memcached+unix: --uri=memcacheds:
	is $shell 'dlock compare --lab mem: --js' --json
	is $shell 'dlock compare mem: fi' file:
	is $shell 'dlock run --on-loss ' kill term warn
	is $shell 'dlock hold --require ' "${caps[@]}"
	is $shell 'dlock run --require=REMOTE,FENCE_' \
		--require=REMOTE,FENCE_DURABLE
	has $shell 'dlock run --backend bi' bin
	has $shell "dlock run -u file://$dir/lo" "file://$dir/locks"
	is $shell "$dir/later/dlock hold --" --on-loss --quick \
		--a-name-that-is-too-long-for-it \
		--another-one-too-long-for-it
	is $shell "$dir/later/dlock hold --on-loss t" term
	is $shell "$dir/later/dlock hold --quick --on-loss=" --on-loss=kill \
		--on-loss=term --on-loss=warn
	has $shell "$dir/later/dlock hold --another-one-too-long-for-it bi" bin
	# The command that is run.
	has $shell 'dlock run nightly -- mkdi' mkdir
	has $shell 'dlock run -S 3 nightly mkdi' mkdir
	has $shell 'dlock run nightly dlock sh' show
	is $shell 'dlock run nightly -' -c --command
	has $shell 'dlock run nightly -c mkdi' mkdir
	is $shell 'dlock run nightly -c true '
	has $shell 'dlock run -c mkdi' mkdir
	is $shell 'dlock run -c true n' nightly
	is $shell 'dlock run -c true nightly mkdi'
	is $shell 'dlock run --command=true nightly mkdi'
	is $shell 'dlock run nightly -- dlock show n' nightly
done
[ ! -e ran ] || fail "the name of a lock was run as a command"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
