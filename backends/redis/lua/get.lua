-- SPDX-License-Identifier: Apache-2.0
-- What common.lua begins with.
local v = redis.call('GET', KEYS[1])
