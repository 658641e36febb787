# SPDX-License-Identifier: Apache-2.0
"""The wheel: the package dlock, which links libdlock.

pkg-config finds the library; $DLOCK_INCLUDE and $DLOCK_LIBDIR name one that is
not installed."""
import re

import setuptools

with open("../include/dlock/dlock.h", encoding="utf-8") as header:
    version = ".".join(re.findall(
        r"#define DLOCK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read()))

setuptools.setup(
    name="dlock",
    version=version,
    description="One interface to distributed locks",
    license="Apache-2.0",
    python_requires=">=3.9",
    packages=["dlock", "dlock.aio"],
    setup_requires=["cffi>=1.15"],
    install_requires=["cffi>=1.15"],
    cffi_modules=["build_dlock.py:ffi"],
    zip_safe=False,
)
