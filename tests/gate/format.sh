#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh TREE - are the sources laid out as scripts/format does it?
cd "$1" && exec scripts/format --check
