-- SPDX-License-Identifier: Apache-2.0
-- Begin the lease anew if the claim has both keys.
--
-- KEYS: the lock's key, the plain key.  ARGV and the answer: as in renew.lua.
local left
for _, key in ipairs(KEYS) do
	local value = redis.pcall('GET', key)
	if type(value) ~= 'string' or string.sub(value, 3, 51) ~= ARGV[1] then
		return -1
	end
	left = math.min(left or math.huge, redis.call('PTTL', key))
end
for _, key in ipairs(KEYS) do
	redis.call('PEXPIRE', key, ARGV[2])
end
return math.max(left, 0)
