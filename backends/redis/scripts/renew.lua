-- SPDX-License-Identifier: Apache-2.0
-- Begin the lease anew if the claim stands.  A late attempt may have made a
-- claim of this owner after the server had lost everything; that claim has
-- another token, and others may have come and gone before it.  See common.lua
-- for the records.
--
-- ARGV: "OWNER TOKEN", ttl in ms.
-- Answers how much was left, in ms; -1: the claim is gone.
local lock_key = KEYS[1]
local lock_value = redis.call('GET', lock_key)
local left = -1
if lock_value and string.sub(lock_value, 3, 51) == ARGV[1] then
	left = math.max(redis.call('PTTL', lock_key), 0)
	redis.call('PEXPIRE', lock_key, ARGV[2])
	-- The channel of a watched claim lasts as long as the claim, and the
	-- waiters' places as long as their records beside the channel.
	local state = string.sub(lock_value, 1, 1)
	if state == '2' or state == '3' then
		for _, key in ipairs({lock_key .. ':i', lock_key .. ':q'}) do
			if redis.call('PTTL', key) < tonumber(ARGV[2]) then
				redis.call('PEXPIRE', key, ARGV[2])
			end
		end
	end
	return left
end
local holders_key, info_key = lock_key .. ':s', lock_key .. ':i'
local queue_key = lock_key .. ':q'
local me = string.sub(ARGV[1], 1, 32)
local lease_end = redis.call('ZSCORE', holders_key, me)
if lease_end then
	local now = redis.call('TIME')
	local now_ms = math.floor(now[1] * 1000 + now[2] / 1000)
	if tonumber(lease_end) > now_ms then
		local known = redis.call('HGET', info_key, me) or ''
		if string.sub(known, 3, 18) ~= string.sub(ARGV[1], 34) then
			return -1
		end
		left = lease_end - now_ms
		-- A full server refuses this, unless the script has written.
		local new_end = now_ms + ARGV[2]
		local done = redis.pcall('ZADD', holders_key, new_end, me)
		if type(done) == 'table' then
			redis.call('ZREM', holders_key, '')
			redis.call('ZADD', holders_key, new_end, me)
		end
		local life = ARGV[2] + 1000
		for _, key in ipairs({holders_key, info_key, queue_key}) do
			if redis.call('PTTL', key) < life then
				redis.call('PEXPIRE', key, life)
			end
		end
	end
end
return left
