#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpack.sh SOURCE BUILD - what cpack makes of BUILD: unpacked, and used.
set -u

source=$1 build=$2
# shellcheck source=tests/consumer/ways.sh
. "$source/tests/consumer/ways.sh"
ways_begin
cpack=${CPACK:-cpack} cmake=${CMAKE:-cmake}

pack() { "$cpack" --config "$build/CPackConfig.cmake" -B "$dir/$1" -G "$1"; }

# use PREFIX - a command and a library that are there can be used
use() {
	local prefix=$1 flags pc
	"$prefix/bin/dlock" run -u "file://$dir/locks" job -- \
		sh -c 'echo "$DLOCK_NAME"' | grep -x job
	pc=$(find "$prefix" -name dlock.pc)
	flags=$(PKG_CONFIG_LIBDIR=$(dirname "$pc") pkg-config --cflags --libs dlock)
	# shellcheck disable=SC2086 # words
	"${CC:-cc}" -o program "$source/tests/consumer/use.c" $flags
	LD_LIBRARY_PATH=$(dirname "$pc")/.. ./program
}

archive() {
	pack TGZ
	mkdir archive
	tar -C archive --strip-components=1 -xzf TGZ/dlock-*.tar.gz
	use "$dir/archive"
	[ -s archive/share/man/man3/dlock_open.3 ]
}

# Three of them, no file in two, and what they need.
rpms() {
	local name
	command -v rpmbuild > /dev/null || return 77
	pack RPM
	for name in libdlock libdlock-devel dlock; do
		rpm -qlp RPM/$name-[0-9]*.rpm | grep -v '/\.build-id' > $name.files
		[ -s $name.files ]
		# Whole directories are their own only below a dlock.
		rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' \
			RPM/$name-[0-9]*.rpm | sed -n 's/^d[^ ]* //p' |
			grep -v -e dlock -e '\.build-id' && return 1
	done
	[ -z "$(sort ./*.files | uniq -d | grep -v '/share/doc/')" ]
	grep 'libdlock\.so\.[0-9.]*$' libdlock.files
	! grep -v 'libdlock\.so\.' libdlock.files || return 1
	grep '/include/dlock/dlock\.h$' libdlock-devel.files
	grep '/man3/dlock_open\.3' libdlock-devel.files
	grep '/bin/dlock$' dlock.files
	rpm -qp --requires RPM/libdlock-[0-9]*.rpm > requires
	grep libhiredis requires && grep libssl requires
	rpm -qp --requires RPM/dlock-[0-9]*.rpm | grep '^libdlock\.so\.'
	rpm -qp --requires RPM/libdlock-devel-*.rpm | grep '^libdlock = '
	mkdir rpm
	for name in RPM/*.rpm; do
		rpm2archive - < "$name" | tar -C rpm -xz
	done
	use "$dir/rpm/usr"
}

sources() {
	"$cpack" --config "$build/CPackSourceConfig.cmake" -B "$dir/sources"
	tar -xzf sources/dlock-*.tar.gz
	cd dlock-*/
	[ ! -e build ] && [ ! -e .git ]
	[ -x scripts/test ] && [ -e debian/control ]
	"$cmake" -S . -B "$dir/from-sources" -DBUILD_TESTING=OFF
}

mkdir -m 700 "$dir/locks"
way "an archive" archive
way "RPM packages" rpms
way "an archive of the sources" sources
ways_end
