-- SPDX-License-Identifier: Apache-2.0
-- needs: release_fast: lock_key lock_value
--
-- The release of an exclusive hold with waiters, if the first waiter is alive,
-- wants the lock exclusively, and is to have a turn.  And the end of a wait while
-- another owner holds the lock: the client of a passed claim sends one for each
-- waiter.  In any other case the parts that follow answer.  There are no shared
-- holders: see common.lua.  Not ZPOPMIN, which also writes the score: that costs
-- more than the two commands here.
if lock_value and string.sub(lock_value, 1, 1) == '1'
	and string.sub(lock_value, 3, 51) == string.sub(ARGV[1], 3) then
	local queue_key, info_key = lock_key .. ':q', lock_key .. ':i'
	local waiter = redis.call('ZRANGE', queue_key, '0', '0')[1]
	local expiry, attempt, channel, life, payload = string.match(
		waiter and redis.call('HGET', info_key, waiter) or '',
		'^W (%d+) f x %d+ (%d+) (%S+) (%d+) (.*)$')
	if expiry then
		local now = redis.call('TIME')
		local token = now[1] .. string.sub('00000' .. now[2], -6)
		local tenth = string.sub(token, 1, 11)
		if expiry > string.sub(token, 1, 13)
			and string.sub(lock_value, 36, 51) < token
			and redis.pcall('GET', KEYS[2]) == tenth then
			-- First, because a full server takes a ZREM, and after
			-- a write takes the rest, too.
			redis.call('ZREM', queue_key, waiter)
			redis.call('HDEL', info_key, waiter)
			redis.call('SET', lock_key, '1 ' .. waiter .. ' '
				.. token .. ' ' .. payload, 'PX', life)
			redis.pcall('PUBLISH', channel, waiter .. ' ' .. attempt
				.. ' ' .. token .. ' ' .. token)
			return 1
		end
	end
end
local owner, me = string.match(lock_value or '', '^[0-3] (%x+) %d+ '),
	string.sub(ARGV[1], 3, 34)
if owner and #owner == 32 and owner ~= me then
	redis.call('ZREM', lock_key .. ':q', me)
	redis.call('HDEL', lock_key .. ':i', me)
	return 0
end
