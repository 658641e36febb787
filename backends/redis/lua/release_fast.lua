-- SPDX-License-Identifier: Apache-2.0
-- The end of an exclusive claim that nobody waits for: its token stays until
-- the clock has passed it.  A server that is full takes a DEL.
--
-- ARGV: "0 owner token", token, when that may be forgotten; or, if the token is
-- not known, only "0 owner".  The client does the arithmetic: numbers are dear
-- here.  Returns 1: it was ours, 0: it was not.
local v = redis.call('GET', KEYS[1])
if v and string.sub(v, 1, 51) == ARGV[1] then
	if redis.pcall('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3]).err then
		redis.call('DEL', KEYS[1])
	end
	return 1
end
