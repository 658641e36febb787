#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# complete.bash FILE LINE - what FILE's completion offers at the end of LINE, one
# a line: the words that would then stand there.
#
# Does what readline does before it calls a completion function.
set -u

file=$1 line=$2
# shellcheck source=/dev/null
. /usr/share/bash-completion/bash_completion
# shellcheck source=/dev/null
. "$file"
compopt() { :; } # works only below readline

COMP_LINE=$line
COMP_POINT=${#line}
COMP_TYPE=9 COMP_KEY=9
COMP_WORDS=()
rest=$line
word='^([^[:space:]:=\\]|\\.)+'
breaks='^[:=]+'
blanks='^[[:space:]]+'
while [[ -n $rest ]]; do
	if [[ $rest =~ $word || $rest =~ $breaks ]]; then
		COMP_WORDS+=("${BASH_REMATCH[0]}")
	elif [[ $rest =~ $blanks ]]; then
		:
	else
		break
	fi
	rest=${rest#"${BASH_REMATCH[0]}"}
done
[[ $line != *[[:space:]] ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))

# What readline keeps of the word that is being completed.
last=${line##*[[:space:]]}
head=${last%"${last##*[:=]}"}
[[ $last == *[:=]* ]] || head=
COMPREPLY=()
set +u
_dlock "${COMP_WORDS[0]}" "${last#"$head"}" "${COMP_WORDS[COMP_CWORD - 1]}"
# As the shell would then read them.
for reply in "${COMPREPLY[@]}"; do
	eval "printf '%s\n' $head$reply"
done
