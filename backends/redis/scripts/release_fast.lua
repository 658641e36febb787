-- SPDX-License-Identifier: Apache-2.0
-- The release of an exclusive hold without waiters.  The key keeps the token
-- until the clock has passed it.  A full server takes a DEL instead.
--
-- ARGV: "0 OWNER TOKEN", the token, and when the key may forget it, in ms since
-- 1970; or, if the token is not known, only "0 OWNER".  The client does the
-- arithmetic, because numbers are slow here.
-- Answers 1: it was ours; 0: it was not.
local lock_key = KEYS[1]
local lock_value = redis.call('GET', lock_key)
if lock_value and string.sub(lock_value, 1, 51) == ARGV[1] then
	if redis.pcall('SET', lock_key, ARGV[2], 'PXAT', ARGV[3]).err then
		redis.call('DEL', lock_key)
	end
	return 1
end
