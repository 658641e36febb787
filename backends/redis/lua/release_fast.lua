-- SPDX-License-Identifier: Apache-2.0
-- The end of an exclusive claim that nobody waits for: its token stays until
-- the clock has passed it.  A server that is full takes a DEL.
-- ARGV: "0 " and the owner.  Returns 1: it was ours, 0: it was not.
local v = redis.call('GET', KEYS[1])
if v and string.sub(v, 1, 34) == ARGV[1] then
	local token = string.sub(v, 36, 51)
	if redis.pcall('SET', KEYS[1], '- ' .. token, 'PXAT',
		string.sub(token, 1, 13) + 1000).err then
		redis.call('DEL', KEYS[1])
	end
	return 1
end
