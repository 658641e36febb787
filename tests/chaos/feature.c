/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/feature.h"

const struct chaos_feature_row chaos_features[CHAOS_NFEATURES] = {
#define X(name, what, capability) { .text = what, .cap = capability },
	CHAOS_FEATURES(X)
#undef X
};
