#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# play.sh PLAN STARTED NUMBER... - for run.sh: run these blocks of PLAN as a
# reader would, in one shell, and print each command with its output.
#
# Adds a line to PLAN/done for each command: its exit status, page and text.
plan=$1 started=$2
shift 2
out=$plan/out status=0 page='' heading='' command='' number=''
# Programs are made here; commands run in the source directory.
mkdir -p ~/try
cd ~/dlock || exit 1

done_with() { printf '%s\t%s\t%s\n' "$1" "$page" "${2%%$'\n'*}" >> "$plan/done"; }

# What it printed: long lines folded, and long output without its middle, unless
# the command failed.
print_out() {
	local lines
	sed 's/\r$//; s/.*\r//' "$out" | expand | fold -s -w 126 |
		sed "s/ *\$//; s#$HOME\\>#~#g" | cat -s > "$out.folded"
	lines=$(wc -l < "$out.folded")
	if [ "$status" = 0 ] && [ "$lines" -gt 45 ]; then
		head -n 8 "$out.folded"
		echo "[... $((lines - 28)) lines ...]"
		tail -n 20 "$out.folded"
	else
		cat "$out.folded"
	fi
}

# What a page's own "exit" ends is this shell: that is a failure as well.
ended() {
	[ -n "$command" ] || return
	print_out
	echo "[ended the shell]"
	done_with 255 "$command"
}
trap ended EXIT

# play TEXT - one command, in this shell
play() {
	local start=$SECONDS
	command=$1
	[ -n "$command" ] || return
	printf '$ %s\n' "$command" | sed '2,$s/^/> /' | expand
	if [[ $command =~ ^[[:space:]]*(#.*)?$ ]]; then
		command=
		return
	fi
	: > "$out"
	eval "$command" > "$out" 2>&1 < /dev/null
	status=$?
	print_out
	[ $status = 0 ] || echo "[exit status $status]"
	[ $((SECONDS - start)) -lt 3 ] || echo "[$((SECONDS - start)) s]"
	done_with $status "$command"
	command=
}

# complete TEXT - is it a command, or does it go on in the next line?
complete() { [[ $1 != *\\ ]] && bash -n <<< "$1" 2> /dev/null; }

as_shell() {
	local line text=''
	while IFS= read -r line <&3; do
		text+=${text:+$'\n'}$line
		complete "$text" || continue
		play "$text"
		text=''
	done 3< "$plan/$number"
	[ -z "$text" ] || play "$text"
}

# Settings, and commands after five fields that say when: as cron(8) runs them.
as_crontab() {
	local line
	while IFS= read -r line <&3; do
		if [[ $line =~ ^[A-Z_]+= ]]; then
			play "export $line"
		else
			play "$(sed -E 's/^([^ ]+ +){5}//' <<< "$line")"
		fi
	done 3< "$plan/$number"
}

# As it is typed at the server's prompt, where a command is one line.
as_redis() {
	sed 's/^ */  /' "$plan/$number"
	play "redis-cli < ~/try/acl"
}

# as_program FILE COMMAND... - the block, in its frame if it has one
as_program() {
	local file=$1 text
	shift
	echo "(in ~/try/$file, from the page${frame:+, in what it needs around it}:)"
	sed 's/^/  /' "$plan/$number" | expand
	if [ -n "$frame" ]; then
		sed -e "/@@/{r $plan/$number" -e 'd;}' "$plan/frames/$frame.in" \
			> ~/try/"$file"
	else
		cp "$plan/$number" ~/try/"$file"
	fi
	play "cd ~/try"
	for text in "$@"; do play "$text"; done
	play "cd ~/dlock"
}

block() {
	local now name
	if [ "$1 $2" != "$page $heading" ]; then
		page=$1 heading=$2
		now=$(($(date +%s) - started))
		printf '```\n\n## %s: %s (%d:%02d)\n\n```text\n' "${page#docs/}" \
			"$heading" $((now / 60)) $((now % 60))
	else
		echo
	fi
	name=$(basename "$page" .md)-$((10#$number))
	how=$3 frame=$4
	case $how in
	sh) as_shell ;;
	crontab) (as_crontab) ;;
	redis-cli)
		tr -s '\n ' '  ' < "$plan/$number" > ~/try/acl
		as_redis
		;;
	c)
		as_program "$name.c" "cc -o $name $name.c \$(pkg-config --cflags --libs dlock)" \
			"./$name"
		;;
	cpp)
		as_program "$name.cpp" \
			"c++ -std=c++17 -o $name $name.cpp \$(pkg-config --cflags --libs dlock)" \
			"./$name"
		;;
	python) as_program "$name.py" "\$HOME/dlock-venv/bin/python3 $name.py" ;;
	shown)
		sed 's/^/  /' "$plan/$number" | expand
		echo "(not run: $5)"
		;;
	*)
		echo "[no way to run '$how']"
		done_with 255 "$how"
		;;
	esac
}

for number in "$@"; do
	IFS=$'\t' read -r page_ heading_ how_ frame_ reason < "$plan/$number.how"
	[ "$frame_" != - ] || frame_=''
	block "$page_" "$heading_" "$how_" "$frame_" "$reason"
done
