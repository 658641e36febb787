#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCE BUILD - install BUILD into a directory that is removed again,
# and build and run a program against it in every way there is.
set -u

source=$1 build=$2
here=$source/tests/consumer
# shellcheck source=tests/consumer/ways.sh
. "$here/ways.sh"
ways_begin
cmake=${CMAKE:-cmake} cc=${CC:-cc} cxx=${CXX:-g++}
warnings='-Wall -Wextra -Wpedantic -Werror'
# A staged tree that has been moved must serve as well as one in its place.
prefix="$dir/a prefix"

install_tree() {
	"$cmake" --install "$build" --prefix "$prefix" &&
		test -f "$(find "$prefix" -name dlock.pc)" &&
		test -f "$prefix/include/dlock/backend.h" &&
		test -f "$prefix/include/dlock/dlock.hpp"
}

# No path of the build is in what is installed, so that nobody can put there what
# a program would load; and what the lab loads is beside it.
no_build_paths() {
	test -f "$(dirname "$pc")/../dlock/wallshim.so" || return 1
	! grep -rlF -e "$build" "$prefix"
}

manual() {
	cd "$prefix/share/man"
	for page in 1/dlock 1/dlock-conform 3/dlock_open 3/dlk_lost; do
		mandoc -T markdown "man$page.${page%%/*}" |
			tr -d "\\\\" | grep -F "${page#*/}" || return 1
	done
}

# Run it; `linked` says whether it must load the shared library.
run() {
	linked=$1
	shift
	if readelf -d "$1" | grep -q 'NEEDED.*libdlock'; then
		[ "$linked" = shared ] || { echo "$1 loads libdlock"; return 1; }
	else
		[ "$linked" = static ] || { echo "$1 lacks libdlock"; return 1; }
	fi
	LD_LIBRARY_PATH=$(dirname "$pc")/.. "$@"
}

by_find_package() {
	kind=$1
	"$cmake" -S "$here/find_package" -B "$kind" -DKIND="$kind" \
		-DWANTED_VERSION="$version" -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
		-DCMAKE_C_COMPILER="$cc" &&
		"$cmake" --build "$kind" && run "$kind" "$kind/use" || return 1
	# What dlock was compiled with is no business of its users.
	! grep -E '"command".* (-D|-U|-std|-W|-O|-f)' \
		"$kind/compile_commands.json"
}

# Without what the static library is linked with: no matter to who wants the
# shared one, and a clear word to who wants the static one.
by_find_package_alone() {
	set -- -S "$here/find_package" -DWANTED_VERSION="$version" \
		-DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
		"-DCMAKE_IGNORE_PATH=/usr/include;/usr/local/include"
	"$cmake" "$@" -B alone -DKIND=shared || return 1
	refused=$("$cmake" "$@" -B alone-static -DKIND=static 2>&1) && return 1
	echo "$refused"
	echo "$refused" | said \
		'dlock::static is linked with libraries that were not found: ' &&
		echo "$refused" |
		said 'LibMD (on Debian: apt-get install libmd-dev).'
}

by_unknown_component() {
	refused=$("$cmake" -S "$here/find_package" -B unknown -DKIND=fast \
		-DWANTED_VERSION="$version" -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_C_COMPILER="$cc" 2>&1) && return 1
	echo "$refused"
	echo "$refused" |
		said 'dlock has no component "fast": there are shared and static.'
}

# Another minor version of a 0.x library is another library.
by_wrong_version() {
	! "$cmake" -S "$here/find_package" -B wrong -DKIND=shared \
		-DWANTED_VERSION=0.999 -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_C_COMPILER="$cc"
}

# flags [--static] - what pkg-config says, where no other .pc file is to be found:
# a program needs none of those that dlock itself was built with.
flags() {
	PKG_CONFIG_LIBDIR=$(dirname "$pc") PKG_CONFIG_PATH='' \
		pkg-config "$@" dlock
}

# only PATTERN FLAG... - nothing else among what pkg-config said
only() {
	pattern=$1
	shift
	for flag; do
		echo "$flag" | grep -qxE -e "$pattern" || {
			echo "pkg-config says $flag"
			return 1
		}
	done
}

by_pkg_config() {
	[ "$(flags --modversion)" = "$version" ] && flags --validate ||
		return 1
	# Its paths may hold blanks, which pkg-config escapes for a shell.
	eval "set -- $(flags --cflags)"
	[ $# = 1 ] && only '-I.*/include' "$@" || return 1
	eval "set -- $(flags --libs)"
	[ $# = 2 ] && only '-L.*|-ldlock' "$@" || return 1
	eval "$cc -o pc '$here/use.c' $(flags --cflags --libs)" &&
		run shared ./pc
}

# With the shared library out of the way, the linker takes the static one.
by_pkg_config_static() {
	cp -R "$prefix" only-static && rm "$(find only-static -name libdlock.so)" &&
		pc=$(find "$PWD/only-static" -name dlock.pc) || return 1
	eval "set -- $(flags --static --cflags)"
	[ $# = 1 ] && only '-I.*/include' "$@" || return 1
	eval "set -- $(flags --static --libs)"
	only '-L.*|-l.*|-pthread' "$@" || return 1
	eval "$cc -o pc-static '$here/use.c'" \
		"$(flags --static --cflags --libs)" &&
		run static ./pc-static
}

by_add_subdirectory() {
	"$cmake" -S "$here/subdirectory" -B sub -DDLOCK_SOURCE="$source" \
		-DCMAKE_C_COMPILER="$cc" &&
		"$cmake" --build sub && sub/use && sub/use-static
}

as_cxx() {
	# shellcheck disable=SC2086 # a list of words
	$cxx -std=c++17 $warnings -x c++ -c -o cxx.o -I "$prefix/include" \
		"$here/use.c" &&
		$cxx -o cxx cxx.o -L "$(dirname "$pc")/.." -ldlock &&
		run shared ./cxx
}

# dlock.hpp: by CMake in a project without C, and by pkg-config.
hpp_by_find_package() {
	"$cmake" -S "$here/cxx" -B found -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_CXX_COMPILER="$cxx" && "$cmake" --build found &&
		run shared found/use
}

hpp_by_pkg_config() {
	PKG_CONFIG_PATH=$(dirname "$pc")
	export PKG_CONFIG_PATH
	for more in '' '-fno-exceptions -fno-rtti'; do
		eval "$cxx -std=c++17 $warnings -Wshadow -Wconversion $more" \
			"-o hpp '$here/use.cpp'" \
			"$(pkg-config --cflags --libs dlock)" &&
			run shared ./hpp || return 1
	done
}

# Each part of it on its own, by either compiler, and by either standard.
hpp_alone() {
	for compiler in "$cxx -std=c++17" "clang++ -std=c++20"; do
		command -v "${compiler% *}" > /dev/null || continue
		for part in "$prefix"/include/dlock/dlock.hpp \
				"$prefix"/include/dlock/cxx/*.hpp; do
			# shellcheck disable=SC2086 # a list of words
			echo "#include \"$part\"" | $compiler $warnings \
				-Wshadow -Wconversion -Wnon-virtual-dtor \
				-Wold-style-cast -fsyntax-only \
				-I "$prefix/include" -x c++ - || return 1
		done
	done
	echo "#include <dlock/dlock.hpp>" | $cxx -std=c++14 -fsyntax-only \
		-I "$prefix/include" -x c++ - 2>&1 | grep -F 'needs C++17'
}

# The headers for the loops of others, as far as those are here.
loops_in_cxx() {
	for loop in uv:libuv libevent:libevent glib:glib-2.0 \
			sd-event:libsystemd; do
		flags=$(pkg-config --cflags "${loop#*:}") || continue
		# shellcheck disable=SC2046,SC2086 # lists of words
		echo "#include <dlock/${loop%:*}.h>" | $cxx -std=c++17 \
			$warnings -Wold-style-cast -I "$prefix/include" \
			$(echo " $flags" | sed 's/ -I/ -isystem /g') \
			-fsyntax-only -x c++ - || return 1
	done
}

# Each header on its own, in every C there is.
headers_alone() {
	for std in c99 c11 c17; do
		for header in dlock async backend; do
			# shellcheck disable=SC2086 # a list of words
			echo "#include <dlock/$header.h>" |
				$cc -std=$std $warnings -Wstrict-prototypes \
				-I "$prefix/include" -fsyntax-only -x c - ||
				return 1
		done
	done
}

installed_command() {
	"$prefix/bin/dlock" version | grep -F "$version" &&
		test -f "$prefix/share/bash-completion/completions/dlock" &&
		test -f "$prefix/share/zsh/site-functions/_dlock" &&
		test -f "$prefix/share/fish/vendor_completions.d/dlock.fish"
}

# A store that knows dlock by its installed headers alone: the whole suite, and
# the command.
store_out_of_tree() {
	"$cmake" -S "$source/examples/backend-template" -B store \
		-DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
		-DCMAKE_C_FLAGS="$warnings" && "$cmake" --build store || return 1
	[ "$(wc -l < "$source/examples/backend-template/sqlite.c")" -lt 300 ] ||
		return 1
	eval "$cc -D_GNU_SOURCE $warnings -o busy '$here/busy.c'" \
		"$(flags --cflags --libs) -lsqlite3 -pthread" &&
		run shared ./busy store/libdlock-sqlite.so "$dir/busy.db" &&
		"$prefix/bin/dlock-conform" --backend store/libdlock-sqlite.so \
			'sqlite://{}/locks.db' || return 1
	held=$("$prefix/bin/dlock" run --backend store/libdlock-sqlite.so \
		-u "sqlite://$dir/locks.db" job -- sh -c 'echo "$DLOCK_NAME"')
	[ "$held" = job ]
}

way install install_tree
pc=$(find "$prefix" -name dlock.pc)
version=$(sed -n 's/^Version: //p' "$pc")
way "find_package, shared" by_find_package shared
way "find_package, static" by_find_package static
way "find_package without the static library's libraries" by_find_package_alone
way "find_package refuses what there is not" by_unknown_component
way "find_package refuses another version" by_wrong_version
way "pkg-config, shared" by_pkg_config
way "pkg-config --static" by_pkg_config_static
way "add_subdirectory" by_add_subdirectory
way "C++17" as_cxx
way "dlock.hpp, find_package" hpp_by_find_package
way "dlock.hpp, pkg-config" hpp_by_pkg_config
way "dlock.hpp alone, C++17 and C++20" hpp_alone
way "headers for loops, C++17" loops_in_cxx
way "headers alone, C99 to C17" headers_alone
if [ -e "$prefix/bin/dlock" ]; then
	way "installed command" installed_command
	way "manual pages" manual
	way "no paths of the build" no_build_paths
	way "a store of somebody else's" store_out_of_tree
fi
ways_end
