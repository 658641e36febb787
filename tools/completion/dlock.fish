# SPDX-License-Identifier: Apache-2.0
# fish completion for dlock(1).
#
# What there is, is asked of the dlock that was typed: commands, options, what
# they take, stores.  So this file knows none of them.  The names of locks are
# asked of the store, which has a second to answer.

function __dlock_commands
	$argv[1] help 2>/dev/null |
		string replace -rf '^  ([a-z]+) +([^ ].*)' '$1\t$2'
end

# Those that are built in.
function __dlock_schemes
	$argv[1] backends 2>/dev/null | string replace -rf '^([a-z+]+) +yes .*' '$1'
end

# What stores can promise.
function __dlock_caps
	$argv[1] backends 2>/dev/null | string replace -rf '^ +([A-Z_ ]+)$' '$1' |
		string split ' ' | sort -u
end

# DLOCK [-u URI] - the locks in that store, or else that of the environment
function __dlock_names
	timeout 2 $argv[1] list --json -w 1 $argv[2..] 2>/dev/null |
		string replace -rf '^ *"name": "(.*)",?$' '$1' |
		string replace -ra '\\\\(["\\\\])' '$1' | sort -u
end

# DLOCK WORD
function __dlock_uri
	if string match -q 'file://*' -- $argv[2]
		for dir in (string replace 'file://' '' -- $argv[2])*/
			echo file://$dir
		end
	else
		__dlock_schemes $argv[1] | string replace -r '$' :
	end
end

# HELP... - option, what it takes or nothing, text: a tab between them
function __dlock_options
	set -l arg '((?: [A-Z]+| [a-z]+(?:\|[a-z]+)+)?)'
	for line in $argv
		set -l m (string match -r '^  (-.|  )[, ] (--[a-z-]+)'$arg' +([^ ].*)' -- $line)
		or continue
		set m[4] (string trim -- $m[4])
		printf '%s\t%s\t%s\n' $m[3] $m[4] $m[5]
		test $m[2] = '  '; or printf '%s\t%s\t%s\n' $m[2] $m[4] $m[5]
	end
end

# DLOCK ARG WORD - what an option takes, by the word for it in the help
function __dlock_value
	switch $argv[2]
		case URI
			__dlock_uri $argv[1] $argv[3]
		case FILE
			__fish_complete_path $argv[3]
		case DIR
			__fish_complete_directories $argv[3]
		case CAPS
			set -l head (string replace -r '[^,]*$' '' -- $argv[3])
			for cap in (__dlock_caps $argv[1])
				echo $head$cap
			end
		case CMD LINE
			__fish_complete_command
		case '*|*'
			string split '|' $argv[2]
	end
end

# WORD OPTION... - what that option wants of the next word.  Of several letters
# in a word the last may want one.
function __dlock_takes
	switch $argv[1]
		case '--*=*'
			return
		case '--*'
			string replace -rf '^'(string escape --style=regex -- $argv[1])'\t([^\t]*)\t.*' '$1' -- $argv[2..]
		case '*'
			set -l letters (string split '' (string sub -s 2 -- $argv[1]))
			while set -q letters[1]
				set -l arg (string replace -rf '^-'(string escape --style=regex -- $letters[1])'\t([^\t]*)\t.*' '$1' -- $argv[2..])
				set -e letters[1]
				test -n "$arg"; or continue
				set -q letters[1]; or echo $arg
				return
			end
	end
end

function __dlock_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l dlock (string replace -r '^~' $HOME -- $words[1])
	set -e words[1]
	while string match -q -- '--backend*' $words[1]
		test "$words[1]" = --backend; and set -e words[1]
		and not set -q words[1]; and __fish_complete_path $current; and return
		set -e words[1]
	end
	if not set -q words[1]
		__dlock_commands $dlock
		string match -q -- '-*' $current
		and printf '%s\n' --backend --help --version
		return
	end
	set -l help ($dlock help $words[1] 2>/dev/null)
	set -l usage
	for line in $help
		test -n "$line"; or break
		set usage "$usage $line"
	end
	set -l options (__dlock_options $help)
	set -l store
	set -l behind yes # whether what is run comes behind the lock's name
	set -l given
	set -e words[1]
	while set -q words[1]
		if not string match -qr -- '^-.' $words[1]; or test "$words[1]" = --
			string match -q '* COMMAND...*' -- $usage; and break
			set given $words[1]
			set -e words[1]
			continue
		end
		set -l takes (__dlock_takes $words[1] $options)
		if string match -q -- '--uri=*' $words[1]
			set store -u (string replace -- --uri= '' $words[1])
		else if string match -q -- '--*=*' $words[1]
			set -l option (string replace -r '=.*' '' -- $words[1])
			test "$(__dlock_takes $option $options)" = LINE; and set behind
		end
		set -e words[1]
		test -n "$takes"; or continue
		if not set -q words[1]
			__dlock_value $dlock $takes $current
			return
		end
		test $takes = URI; and set store -u $words[1]
		test $takes = LINE; and set behind
		set -e words[1]
	end
	if set -q words[1]
		set -q behind[1]; or return
		set -e words[1]
		if not set -q words[1]; and string match -q -- '-*' $current
			string replace -rf '^(\S+)\tLINE\t' '$1\t' -- $options
			return
		end
		if set -q words[1]; and string match -qr -- '^-.' $words[1]
			if test "$(__dlock_takes $words[1] $options)" = LINE
				set -q words[2]; or __dlock_value $dlock LINE $current
				return
			end
		end
		test "$words[1]" = --; and set -e words[1]
		complete -C (string join ' ' -- (string escape -- $words) $current)
		return
	end
	if string match -q -- '--*=*' $current
		set -l option (string replace -r '=.*' '' -- $current)
		set -l value (string replace -r '^[^=]*=' '' -- $current)
		set -l takes (__dlock_takes $option $options)
		test -z "$takes"
		or __dlock_value $dlock $takes $value | string replace -r -- '^' $option=
		return
	end
	if string match -q -- '-*' $current
		string replace -r '\t[^\t]*\t' '\t' -- $options
		return
	end
	set -q given[1]; and not string match -q '* [URI]...' -- $usage; and return
	switch "$usage"
		case '* NAME' '* NAME [PERMITS]' '* COMMAND...*'
			__dlock_names $dlock $store
		case '* [URI]...'
			__dlock_uri $dlock "$current"
		case '* [SCHEME]'
			__dlock_schemes $dlock
		case '* [COMMAND | exit]'
			__dlock_commands $dlock
			echo exit
	end
end

complete -c dlock -f -a '(__dlock_complete)'
