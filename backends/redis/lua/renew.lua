-- SPDX-License-Identifier: Apache-2.0
-- Begin the lease anew if the claim stands.
-- ARGV: owner, ttl in ms.  Returns what was left in ms; -1: it is gone.
local v = redis.call('GET', KEYS[1])
local left = -1
if v and string.sub(v, 3, 34) == ARGV[1] then
	left = math.max(redis.call('PTTL', KEYS[1]), 0)
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	local t = redis.call('TIME')
	local token = string.sub(v, 36, 51)
	if token > t[1] .. string.sub('00000' .. t[2], -6) then
		redis.call('SET', KEYS[1] .. ':f', token, 'PXAT',
			string.sub(token, 1, 13) + 1000)
	end
	return left
end
local S, I = KEYS[1] .. ':s', KEYS[1] .. ':i'
local score = redis.call('ZSCORE', S, ARGV[1])
if score then
	local t = redis.call('TIME')
	local us = t[1] .. string.sub('00000' .. t[2], -6)
	local ms = math.floor(us / 1000)
	if tonumber(score) > ms then
		local info = redis.call('HGET', I, ARGV[1])
		local token = info and string.sub(info, 3, 18)
		if not token then
			return -1
		end
		left = score - ms
		redis.call('ZADD', S, ms + ARGV[2], ARGV[1])
		for _, key in ipairs({S, I}) do
			if redis.call('PTTL', key) < tonumber(ARGV[2]) then
				redis.call('PEXPIRE', key, ARGV[2])
			end
		end
		if token > us then
			redis.call('SET', KEYS[1] .. ':f', token, 'PXAT',
				string.sub(token, 1, 13) + 1000)
		end
	end
end
return left
