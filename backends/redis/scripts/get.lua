-- SPDX-License-Identifier: Apache-2.0
-- How a script without a fast path begins.  See common.lua for the records.
local lock_key = KEYS[1]
local lock_value = redis.call('GET', lock_key)
