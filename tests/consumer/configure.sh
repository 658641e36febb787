#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# configure.sh SOURCE - does the tree configure without what it can do without,
# and does it say what it leaves out?
set -u

source=$1
# shellcheck source=tests/consumer/ways.sh
. "$source/tests/consumer/ways.sh"
ways_begin
cmake=${CMAKE:-cmake} ctest=${CTEST:-ctest}

# configure BUILD [OPTION...] - its output goes to BUILD.out, too
configure() {
	build=$1
	shift
	"$cmake" -S "$source" -B "$build" "$@" > "$build.out" 2>&1
	rc=$?
	cat "$build.out"
	return $rc
}

# tests BUILD - the names of its tests
tests() {
	"$ctest" --test-dir "$1" -N | sed -n 's/^ *Test *#[0-9]*: //p'
}

# Everything that pkg-config knows but Criterion.
without_criterion() {
	mkdir pc
	for package in jansson libmd hiredis; do
		! pc=$(pkg-config --variable=pcfiledir $package) ||
			cp "$pc/$package.pc" pc
	done
	PKG_CONFIG_LIBDIR=$dir/pc PKG_CONFIG_PATH=''
	export PKG_CONFIG_LIBDIR PKG_CONFIG_PATH
	configure none || return 1
	said 'Tests built: only those that need no Criterion, which was not found (on Debian: apt-get install libcriterion-dev' \
		< none.out || return 1
	# It has no libuv, either.
	said 'Examples built: all but uv: libuv was not found (on Debian: apt-get install libuv1-dev' \
		< none.out || return 1
	tests none | grep -qx conform-plain || return 1
	! tests none | grep -qx unit || return 1
	# A user who asked for it is told that it is not there.
	! configure wanted -DDLOCK_CRITERION=ON || return 1
	said 'DLOCK_CRITERION=ON, but Criterion was not found' < wanted.out
}

with_criterion() {
	pkg-config --exists criterion || return 0
	configure all -DDLOCK_CRITERION=ON && said 'Tests built: all' < all.out &&
		tests all | grep -qx unit
}

# In a fresh tree, and in one that had tests.
build_testing() {
	configure off -DBUILD_TESTING=OFF || return 1
	said 'Tests built: none: BUILD_TESTING is OFF' < off.out || return 1
	[ -z "$(tests off)" ] || return 1
	! "$cmake" --build off --target help | grep -E '(unit|dlock-bench)$' ||
		return 1
	"$cmake" --build off --target help | grep dlock_command || return 1
	configure off -DBUILD_TESTING=ON -DDLOCK_CRITERION=OFF || return 1
	tests off | grep -qx conform-plain || return 1
	configure off -DBUILD_TESTING=OFF || return 1
	[ -z "$(tests off)" ]
}

# TLS is left out where OpenSSL is not.
without_openssl() {
	hidden=-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
	configure plain $hidden || return 1
	said "TLS to the stores' servers - lacks OpenSSL 3 (on Debian: apt-get install libssl-dev): OFF" \
		< plain.out || return 1
	! configure tls $hidden -DDLOCK_TLS=ON || return 1
	said 'DLOCK_TLS=ON, but OpenSSL 3 was not found' < tls.out
}

# Fleets are left out where libmemcached is not.
without_libmemcached() {
	hidden=-DCMAKE_DISABLE_FIND_PACKAGE_Libmemcached=ON
	configure plain $hidden || return 1
	said 'fleets of memcached servers - lacks libmemcached (on Debian: apt-get install libmemcached-dev): OFF' \
		< plain.out || return 1
	! configure fleets $hidden -DDLOCK_FLEETS=ON || return 1
	said 'DLOCK_FLEETS=ON, but libmemcached was not found' < fleets.out
}

# A URI that needs what is left out says so.
without_either() {
	pkg-config --exists criterion || return 0
	configure neither -DDLOCK_TLS=OFF -DDLOCK_FLEETS=OFF || return 1
	"$cmake" --build neither \
		--target tls_tests loop_tests memcached_pool &&
		"$ctest" --test-dir neither --no-tests=error \
			-R '^(tls_tests|loop_tests|memcached_pool)$'
}

way "without Criterion" without_criterion
way "with Criterion" with_criterion
way "BUILD_TESTING" build_testing
way "without OpenSSL" without_openssl
way "without libmemcached" without_libmemcached
way "without either" without_either
ways_end
