-- SPDX-License-Identifier: Apache-2.0
-- Begin the lease anew if the claim stands.  One that a late look made after
-- all was lost has another token: others may have come and gone before.
-- ARGV: "owner token", ttl in ms.  Returns what was left in ms; -1: it is gone.
local v = redis.call('GET', KEYS[1])
local left = -1
if v and string.sub(v, 3, 51) == ARGV[1] then
	left = math.max(redis.call('PTTL', KEYS[1]), 0)
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return left
end
local S, I, Q = KEYS[1] .. ':s', KEYS[1] .. ':i', KEYS[1] .. ':q'
local me = string.sub(ARGV[1], 1, 32)
local score = redis.call('ZSCORE', S, me)
if score then
	local t = redis.call('TIME')
	local ms = math.floor(t[1] * 1000 + t[2] / 1000)
	if tonumber(score) > ms then
		local known = redis.call('HGET', I, me) or ''
		if string.sub(known, 3, 18) ~= string.sub(ARGV[1], 34) then
			return -1
		end
		left = score - ms
		redis.call('ZADD', S, ms + ARGV[2], me)
		local life = ARGV[2] + 1000
		for _, key in ipairs({S, I, Q}) do
			if redis.call('PTTL', key) < life then
				redis.call('PEXPIRE', key, life)
			end
		end
	end
end
return left
