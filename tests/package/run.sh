#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the Debian packages: built from a copy of the tree, looked at by
# lintian, installed, used and removed.
#
# They are installed below a directory, by the dpkg of this host with a copy of
# its list of packages: so that dependencies must be right, files may belong to
# no other package, and nothing outside of that directory changes.
set -u
cd "$(dirname "$0")/../.." || exit 1

for tool in dpkg-buildpackage dh lintian fakeroot; do
	command -v $tool > /dev/null || {
		echo "SKIP: no $tool here (scripts/deps package installs it)"
		exit 77
	}
done

source=$PWD
# shellcheck source=tests/consumer/ways.sh
. tests/consumer/ways.sh
export LC_ALL=C.UTF-8
# The same place each time: a compiler's cache knows it.
ways_begin "$PWD/build/package"
root=$dir/root
mkdir "$dir/dlock" "$root" || exit 1
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
arch=$(dpkg-architecture -qDEB_HOST_ARCH)
version=$(dpkg-parsechangelog -S Version)
packages=(libdlock0.1 libdlock-dev dlock)

same_version() {
	[ "$version" = "$(sed -n 's/^#define DLOCK_VERSION_[A-Z]* //p' \
		"$source/include/dlock/dlock.h" | paste -s -d .)" ]
}

# The tree, without what is built in it.
build() {
	tar -C "$source" --exclude-vcs --exclude=build --exclude=__pycache__ -cf - . |
		tar -C dlock -xf -
	cd dlock
	DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" \
		dpkg-buildpackage -us -uc
}

# Who writes to an address must not wait for an answer that cannot come, nor
# write to a stranger.
addresses() {
	! (cd "$source" && grep -rEn "[[:alnum:]._-]+@[[:alnum:].-]+\\.[a-z]+|%ae" \
		README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md debian) |
		grep -v '@dlock\.invalid>'
}

# It takes machine code for misspelt words.
lint() {
	lintian --allow-root --fail-on error,warning,info --info \
		--display-info --tag-display-limit 0 \
		--suppress-tags spelling-error-in-binary \
		"dlock_${version}_$arch.changes"
}

deb() { echo "$dir/$1_${version}_$arch.deb"; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else fakeroot "$@"; fi; }

in_root() {
	as_root dpkg --root="$root" --force-not-root --force-script-chrootless \
		--no-triggers "$@"
}

files() { (cd "$root" && find . -path ./var/lib/dpkg -prune -o ! -type d -print); }

make_root() {
	local admin=$root/var/lib/dpkg list
	mkdir -p "$admin/info" "$admin/updates" "$admin/triggers"
	cp /var/lib/dpkg/status "$admin"
	touch "$admin/available"
	for list in /var/lib/dpkg/info/*.list; do
		ln -s "$list" "$admin/info/"
	done
}

# Each without what it depends on.
refused() {
	local package
	for package in libdlock-dev dlock; do
		! in_root -i "$(deb $package)" || return 1
		in_root -P $package
	done
	[ -z "$(files)" ]
}

installed() {
	local debs=() package
	for package in "${packages[@]}"; do
		debs+=("$(deb "$package")")
	done
	in_root -i "${debs[@]}"
	for package in "${packages[@]}"; do
		[ "$(dpkg-query --admindir="$root/var/lib/dpkg" -W \
			-f '${db:Status-Status}' "$package")" = installed ]
		in_root --verify "$package"
	done
}

# What the library is linked with, and nothing that it is not.
depends() {
	local wanted
	dpkg-deb -f "$(deb libdlock0.1)" Depends | tr ',' '\n' |
		sed 's/^ *//; s/ .*//' | sort > depends
	for wanted in libc6 libhiredis0.14 libmd0 libssl3; do
		echo $wanted
	done | diff - depends
	dpkg-deb -f "$(deb dlock)" Depends | tr ',' '\n' |
		sed 's/^ *//' | sort > depends
	sed 's/ .*//' depends | diff <(printf '%s\n' libc6 libdlock0.1 \
		libjansson4) -
	grep -x "libdlock0.1 (>= $version)" depends
}

export LD_LIBRARY_PATH=$root/usr/lib/$triplet
command_works() {
	local dlock=$root/usr/bin/dlock
	mkdir -m 700 locks
	[ "$("$dlock" version)" = "dlock $version" ]
	[ "$("$dlock" run -u "file://$dir/locks" nightly -- \
		sh -c 'echo "$DLOCK_NAME"')" = nightly ]
	"$dlock" run -u "file://$dir/locks" nightly -- \
		"$dlock" list -u "file://$dir/locks" | grep -w nightly
	# Every store is in it.
	! "$dlock" backends | grep -E '^(rediss?|valkeys?|zk|memcacheds?) +no' || return 1
	"$root/usr/bin/dlock-conform" mem: 'mem/*mutex*'
	"$root/usr/bin/dlock-conform" 'file://{}' 'file*/*mutex*'
}

# What is in the packages is the same wherever they were built.
no_paths() {
	! grep -rlF -e "$source" "$root/usr" || return 1
	[ -n "$(find "$root/usr" -name libdlock.a)" ]
}

# The lab of an installed command has all that it needs.
lab() {
	command -v redis-server > /dev/null || return 0
	"$root/usr/bin/dlock" compare --lab --quick --only clock-stepped \
		> findings
	cat findings
	grep "redis, server's clock stepped: the hold" findings
}

manual() {
	local page pages=$root/usr/share/man
	for page in man1/dlock.1 man1/dlock-conform.1 man3/dlock.3 \
		man3/dlock_acquire.3 man3/dlk_wake.3; do
		zcat "$pages/$page.gz" | grep -q '^\.Sh NAME'
	done
	# Nothing more in them than in the headers, nothing less.
	[ "$(find "$pages/man3" -name 'dl*_*.3.gz' ! -name dlock_backend.3.gz \
		! -name dlock_async.3.gz |
		wc -l)" = "$(cat "$source"/include/dlock/*.h |
		grep -c '^DLOCK_API [^e]')" ]
}

# Where the shells look; tests/completion asks them what these offer.
completion() {
	local share=$root/usr/share completion=$source/tools/completion
	cmp "$completion/dlock.bash" "$share/bash-completion/completions/dlock"
	cmp "$completion/_dlock" "$share/zsh/vendor-completions/_dlock"
	cmp "$completion/dlock.fish" "$share/fish/vendor_completions.d/dlock.fish"
}

program() {
	local kind flags
	export PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig
	flags=$(pkg-config --cflags --libs dlock)
	# shellcheck disable=SC2086 # words
	cc -o use "$source/tests/consumer/use.c" $flags
	./use
	# shellcheck disable=SC2086 # words
	c++ -std=c++17 -o usexx "$source/tests/consumer/use.cpp" $flags
	./usexx
	for kind in shared static; do
		cmake -S "$source/tests/consumer/find_package" -B $kind \
			-DKIND=$kind -DWANTED_VERSION="$version" \
			-DCMAKE_PREFIX_PATH="$root/usr"
		cmake --build $kind
		$kind/use
	done
}

documents() {
	local doc=$root/usr/share/doc package
	for package in "${packages[@]}"; do
		[ -s "$doc/$package/copyright" ]
		[ -s "$doc/$package/changelog.gz" ]
	done
	# debhelper compresses what is longer than 4 KiB.
	ls "$doc"/dlock/SECURITY.md* "$doc"/dlock/docs/guarantees.md* \
		"$doc"/libdlock-dev/examples
}

removed() {
	in_root -r dlock
	[ ! -e "$root/usr/bin/dlock" ]
	# The others do without it; not the headers without the library.
	./use
	! in_root -r libdlock0.1 || return 1
	in_root -P libdlock-dev dlock libdlock0.1
	files
	[ -z "$(files)" ]
	! dpkg-query --admindir="$root/var/lib/dpkg" -W "${packages[@]}"
}

way "the header's version" same_version
way "build" build
[ -e "$(deb dlock)" ] || { ways_end; exit; }
way "lintian" lint
way "no mail address but the one that is none" addresses
way "dependencies" depends
make_root
way "refused without what they need" refused
way "installed" installed
way "no paths of this machine" no_paths
way "the command, and every store" command_works
way "its lab" lab
way "manual pages" manual
way "completion" completion
way "a program" program
way "documents" documents
way "removed" removed
ways_end
