#!/usr/bin/env zsh
# SPDX-License-Identifier: Apache-2.0
# complete.zsh FILE LINE - what FILE's completion offers at the end of LINE, one
# a line.
#
# A shell on a terminal of its own gets LINE and a tab; what is offered to it
# goes to a file.
zmodload zsh/zpty zsh/zselect || exit 77

dir=$(mktemp -d) || exit 1
trap 'zpty -d shell 2> /dev/null; rm -rf $dir' EXIT
export OFFERED=$dir/offered FUNCTIONS=${1:h:A}
cat > $dir/rc <<'END'
PROMPT=ready
fpath=($FUNCTIONS $fpath)
autoload -Uz compinit
compinit -u -D
zstyle ':completion:*' insert-tab false
compadd() {
	local -a hits
	# It only works something out.
	if [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A hits "$@"
	# As it would stand there and be read, with what belongs to each.
	local -a before hidden behind
	zparseopts -E P:=before p:=hidden S:=behind
	(( ! $#hits )) || print -rl -- \
		${IPREFIX}${before[2]}${hidden[2]}${(Q)^hits}${behind[2]} \
		>> $OFFERED
	builtin compadd "$@"
}
finish() { print done > $OFFERED.done }
comppostfuncs=(finish)
bindkey '^I' complete-word
END
zpty -b shell "TERM=dumb zsh -f -i"
zpty -w shell "source $dir/rc"
# The prompt that rc sets is there.
read_on() {
	local text all= deadline=$((SECONDS + 20))
	while (( SECONDS < deadline )); do
		zpty -r -t shell text && all+=$text
		eval $1 && return 0
		zselect -t 1
	done
	print -u 2 "no answer from zsh: $all"
	return 1
}
read_on '[[ $all == *ready* ]]' || exit 1
zpty -n -w shell "$2"$'\t'
read_on '[[ -e $OFFERED.done ]]' || exit 1
[[ ! -e $OFFERED ]] || cat $OFFERED
