#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCE BUILD - install BUILD into a directory that is removed again,
# and build and run a program against it in every way there is.
set -u
export LC_ALL=C

source=$1 build=$2
here=$source/tests/consumer
cmake=${CMAKE:-cmake} cc=${CC:-cc} cxx=${CXX:-g++}
warnings='-Wall -Wextra -Wpedantic -Werror'

dir=$(mktemp -d "${TMPDIR:-/tmp}/dlock-consumer.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
# A staged tree that has been moved must serve as well as one in its place.
prefix="$dir/a prefix"
passed=0 failed=0

# way NAME COMMAND... - one way to use the library, its output kept for failures
way() {
	name=$1
	shift
	if ( set -e; cd "$dir"; "$@" ) > "$dir/log" 2>&1; then
		echo "PASS: $name"
		passed=$((passed + 1))
	else
		echo "FAIL: $name"
		sed 's/^/\t/' "$dir/log"
		failed=$((failed + 1))
	fi
}

install_tree() {
	"$cmake" --install "$build" --prefix "$prefix" &&
		test -f "$(find "$prefix" -name dlock.pc)" &&
		test -f "$prefix/include/dlock/backend.h"
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
		-DCMAKE_C_COMPILER="$cc" &&
		"$cmake" --build "$kind" && run "$kind" "$kind/use"
}

# Another minor version of a 0.x library is another library.
by_wrong_version() {
	! "$cmake" -S "$here/find_package" -B wrong -DKIND=shared \
		-DWANTED_VERSION=0.999 -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_C_COMPILER="$cc"
}

by_pkg_config() {
	PKG_CONFIG_PATH=$(dirname "$pc")
	export PKG_CONFIG_PATH
	pkg-config --validate dlock &&
		[ "$(pkg-config --modversion dlock)" = "$version" ] || return 1
	# Its paths may hold blanks, which pkg-config escapes for a shell.
	eval "$cc -o pc '$here/use.c' $(pkg-config --cflags --libs dlock)" &&
		run shared ./pc
}

# With the shared library out of the way, the linker takes the static one.
by_pkg_config_static() {
	cp -R "$prefix" only-static && rm "$(find only-static -name '*.so')" &&
		PKG_CONFIG_PATH=$(dirname "$(find "$PWD/only-static" \
			-name dlock.pc)") || return 1
	export PKG_CONFIG_PATH
	eval "$cc -o pc-static '$here/use.c'" \
		"$(pkg-config --static --cflags --libs dlock)" &&
		run static ./pc-static
}

by_add_subdirectory() {
	"$cmake" -S "$here/subdirectory" -B sub -DDLOCK_SOURCE="$source" \
		-DCMAKE_C_COMPILER="$cc" &&
		"$cmake" --build sub -j 2 && sub/use && sub/use-static
}

as_cxx() {
	# shellcheck disable=SC2086 # a list of words
	$cxx -std=c++17 $warnings -x c++ -c -o cxx.o -I "$prefix/include" \
		"$here/use.c" &&
		$cxx -o cxx cxx.o -L "$(dirname "$pc")/.." -ldlock &&
		run shared ./cxx
}

# Each header on its own, in every C there is.
headers_alone() {
	for std in c99 c11 c17; do
		for header in dlock backend; do
			# shellcheck disable=SC2086 # a list of words
			echo "#include <dlock/$header.h>" |
				$cc -std=$std $warnings -Wstrict-prototypes \
				-I "$prefix/include" -fsyntax-only -x c - ||
				return 1
		done
	done
}

installed_command() {
	"$prefix/bin/dlock" version | grep -F "$version"
}

way install install_tree
pc=$(find "$prefix" -name dlock.pc)
version=$(sed -n 's/^Version: //p' "$pc")
way "find_package, shared" by_find_package shared
way "find_package, static" by_find_package static
way "find_package refuses another version" by_wrong_version
way "pkg-config, shared" by_pkg_config
way "pkg-config --static" by_pkg_config_static
way "add_subdirectory" by_add_subdirectory
way "C++17" as_cxx
way "headers alone, C99 to C17" headers_alone
if [ -e "$prefix/bin/dlock" ]; then
	way "installed command" installed_command
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
