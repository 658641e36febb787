#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh SOURCE LIBDIR [OPTION...] - make the Python package's source package
# from a copy of the tree, build the wheel from that, install it into a
# directory of its own, and run its tests from there with every URI of
# DLOCK_TEST_URIS.  The options are unittest's, as -k PATTERN.  77: what builds
# it is missing.
set -eu

source=$1 libdir=$2
shift 2
python=/usr/bin/python3
# Not that of a version manager, which has no packages of Debian's.
[ -x $python ] || python=python3
if ! $python -c 'import cffi, setuptools, wheel' 2> /dev/null; then
	echo "python3-cffi, python3-setuptools or python3-wheel is missing"
	exit 77
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/dlock-python.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tree" "$dir/site"
cp -R "$source/python" "$source/include" "$dir/tree"
(
	export DLOCK_INCLUDE="$source/include" DLOCK_LIBDIR="$libdir"
	# Errors for gcc 14, warnings before.
	export CFLAGS="-Werror=incompatible-pointer-types -Werror=int-conversion"
	cd "$dir/tree/python" &&
		$python setup.py -q sdist --dist-dir "$dir" &&
		rm -r "$dir/tree" &&
		cd "$dir" &&
		tar xzf dlock-*.tar.gz &&
		cd "$(basename dlock-*.tar.gz .tar.gz)" &&
		$python setup.py -q bdist_wheel --dist-dir "$dir"
) > "$dir/log" 2>&1 || {
	cat "$dir/log"
	exit 1
}
$python -m zipfile -e "$dir"/dlock-*.whl "$dir/site"
cd "$dir"
# Nothing is written beside the tests.
LD_LIBRARY_PATH=$libdir PYTHONPATH=$dir/site PYTHONDONTWRITEBYTECODE=1 \
	$python -W always -m unittest discover -v -s "$source/python/tests" "$@"
