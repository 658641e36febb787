/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_CHAOS_OPTIONS_H
#define DLOCK_CHAOS_OPTIONS_H

#include "chaos/chaos.h"

/* 0; 1: help was asked for, and given; -1: bad, and said on stderr. */
int chaos_options(struct chaos_options *o, int argc, char **argv);

#endif
