# SPDX-License-Identifier: Apache-2.0
"""The source package and the wheel: the package dlock, which links libdlock.

pkg-config finds the library; $DLOCK_INCLUDE and $DLOCK_LIBDIR name one that is
not installed."""
import os
import re

import setuptools

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(HERE, "..", "include", "dlock", "dlock.h")


def version():
    """What the header of the tree says, or a source package's PKG-INFO."""
    path, number = HEADER, r"#define DLOCK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)"
    if not os.path.exists(path):
        path, number = os.path.join(HERE, "PKG-INFO"), r"(?m)^Version: (\S+)$"
    with open(path, encoding="utf-8") as file:
        return ".".join(re.findall(number, file.read()))


setuptools.setup(
    name="dlock",
    version=version(),
    description="One interface to distributed locks",
    license="Apache-2.0",
    python_requires=">=3.9",
    packages=["dlock", "dlock.aio"],
    install_requires=["cffi>=1.15"],
    cffi_modules=["build_dlock.py:ffi"],
    zip_safe=False,
)
