# SPDX-License-Identifier: Apache-2.0
# bash completion for dlock(1), by the rules of bash-completion.
#
# What there is, is asked of the dlock that was typed: commands, options, what
# they take, stores.  So this file knows none of them.  The names of locks are
# asked of the store, which has a second to answer.

# _dlock_ask COMMAND - set usage, and args: what each option takes, - for nothing
_dlock_ask() {
	local line above=yes letter='(-(.), |    )' name='(--[a-z-]+)'
	local arg='( ([A-Z]+|[a-z]+(\|[a-z]+)+))?'
	local pattern="^  $letter$name$arg +[^ ]"

	while IFS= read -r line; do
		[[ -n $line ]] || above=
		[[ -z $above ]] || usage+=" $line"
		[[ $line =~ $pattern ]] || continue
		args[${BASH_REMATCH[3]}]=${BASH_REMATCH[5]:--}
		[[ -z ${BASH_REMATCH[2]} ]] ||
			args[-${BASH_REMATCH[2]}]=${BASH_REMATCH[5]:--}
	done < <("$dlock" help "$1" 2> /dev/null)
}

_dlock_commands() {
	"$dlock" help 2> /dev/null | sed -nE 's/^  ([a-z]+) +[^ ].*/\1/p'
}

# Those that are built in.
_dlock_schemes() {
	"$dlock" backends 2> /dev/null | sed -nE 's/^([a-z+]+) +yes .*/\1/p'
}

# The locks in the store that the line names, or else the environment.  No URI
# has quotes or backslashes but those that were typed for the shell.
_dlock_names() {
	timeout 2 "$dlock" list --json -w 1 "${store[@]//[\"\'\\]/}" 2> /dev/null |
		sed -nE '/^ *"name": "(.*)",?$/{s//\1/;s/\\(["\\])/\1/g;p}' |
		sort -u
}

# What stores can promise.
_dlock_caps() {
	"$dlock" backends 2> /dev/null | sed -nE 's/^ +([A-Z_ ]+)$/\1/p' |
		tr ' ' '\n' | sort -u
}

# Offer the lines of standard input.  They are anybody's words: compgen -W would
# run what looks like a command in them.
_dlock_offer() {
	local word

	while IFS= read -r word; do
		printf -v word %q "$word"
		[[ $word != "$cur"* ]] || COMPREPLY+=("$word")
	done
}

# What stands before the last : or = is a word of its own to readline.
_dlock_trim() {
	local breaks=${COMP_WORDBREAKS//[^:=]/}
	local head=

	[[ -z $breaks ]] || head=${cur%"${cur##*[$breaks]}"}
	[[ -z $head ]] || COMPREPLY=("${COMPREPLY[@]#"$head"}")
}

_dlock_uri() {
	compopt -o nospace
	if [[ $cur == file://* ]]; then
		_dlock_offer < <(compgen -d -P file:// -S / -- "${cur#file://}")
	else
		_dlock_offer < <(_dlock_schemes | sed 's/$/:/')
	fi
}

# _dlock_value ARG - what an option takes, by the word for it in the help
_dlock_value() {
	case $1 in
	URI) _dlock_uri ;;
	FILE) _filedir ;;
	DIR) _filedir -d ;;
	CMD | LINE) _dlock_offer < <(compgen -c -- "$cur") ;;
	CAPS)
		local head=${cur%"${cur##*,}"}
		mapfile -t COMPREPLY < <(compgen -P "$head" \
			-W "$(_dlock_caps)" -- "${cur#"$head"}")
		;;
	*'|'*) _dlock_offer <<< "${1//|/$'\n'}" ;;
	esac
}

# _dlock_option WORD - set takes: what it wants of the next word, - for nothing.
# Of several letters in a word the last may want one.
_dlock_option() {
	local word=$1

	takes=-
	case $word in
	--*=*) ;;
	--*) takes=${args[$word]:--} ;;
	*)
		while [[ $takes == - && ${#word} -gt 1 ]]; do
			takes=${args[${word:0:2}]:--}
			word=-${word:2}
		done
		[[ $word == - ]] || takes=-
		;;
	esac
}

# Go over the words from i on until one is no option, and none's argument.
_dlock_skip() {
	takes=-
	for (( ; i < cword; i++)); do
		[[ ${words[i]} == -?* && ${words[i]} != -- ]] || return
		_dlock_option "${words[i]}"
		[[ ${words[i]} != --uri=* ]] || store=(-u "${words[i]#*=}")
		[[ ${words[i]} != --*=* || ${args[${words[i]%%=*}]:-} != LINE ]] ||
			behind=
		[[ $takes != URI ]] || store=(-u "${words[i + 1]}")
		[[ $takes != LINE ]] || behind=
		[[ $takes == - ]] || ((++i))
	done
}

# What is run, behind the lock's name: words, or an option for a shell line.
_dlock_command() {
	local option

	if [[ $i -eq $cword && $cur == -* ]]; then
		_dlock_offer < <(for option in "${!args[@]}"; do
			[[ ${args[$option]} != LINE ]] || echo "$option"
		done)
		return
	fi
	if [[ $i -lt $cword && ${words[i]} == -?* &&
		${args[${words[i]}]:-} == LINE ]]; then
		[[ $((i + 1)) -ne $cword ]] || _dlock_value LINE
		return
	fi
	[[ $i -ge $cword || ${words[i]} != -- ]] || ((++i))
	_command_offset "$i"
	cur=
}

# What stands behind the command's name.
_dlock_rest() {
	local takes n=0
	local behind=yes # whether what is run comes behind the lock's name

	_dlock_skip
	while [[ $usage != *' COMMAND...'* && $i -lt $cword ]]; do
		((++i, ++n)) # options may stand between these
		_dlock_skip
	done
	if [[ $i -gt $cword ]]; then
		_dlock_value "$takes"
	elif [[ $i -lt $cword ]]; then
		[[ -n $behind ]] || return
		((++i))
		_dlock_command
	elif [[ $cur == --*=* ]]; then
		takes=${args[${cur%%=*}]:--}
		cur=${cur#*=}
		_dlock_value "$takes"
	elif [[ $cur == -* ]]; then
		_dlock_offer < <(printf '%s\n' "${!args[@]}")
	elif [[ $n -eq 0 || $usage == *' [URI]...' ]]; then
		case $usage in
		*' NAME'*) _dlock_offer < <(_dlock_names) ;;
		*' [URI]...') _dlock_uri ;;
		*' [SCHEME]') _dlock_offer < <(_dlock_schemes) ;;
		*' [COMMAND | exit]')
			_dlock_offer < <(_dlock_commands && echo exit)
			;;
		esac
	fi
}

_dlock() {
	local cur words cword i dlock=${1/#\~/$HOME} usage=
	local -a store=()
	local -A args=()

	COMPREPLY=()
	_get_comp_words_by_ref -n := cur words cword
	for ((i = 1; i < cword; i++)); do
		[[ ${words[i]} == -* ]] || break
		[[ ${words[i]} != --backend ]] || ((++i))
	done
	if [[ $i -lt $cword ]]; then
		_dlock_ask "${words[i++]}"
		_dlock_rest
	elif [[ $i -gt $cword ]]; then
		_filedir
	elif [[ $cur == -* ]]; then
		_dlock_offer <<< $'--backend\n--help\n--version'
	else
		_dlock_offer < <(_dlock_commands)
	fi
	_dlock_trim
}

complete -F _dlock dlock
