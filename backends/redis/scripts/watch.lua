-- SPDX-License-Identifier: Apache-2.0
-- needs: get: lock_key lock_value
--
-- Watch an exclusive claim: from now on, an attempt or a revoke that meets the
-- claim tells the channel.  And set tokens aside for the claim, up to 65,536 us
-- ahead of the clock, but not past the end of the key: after the key's expiry,
-- tokens come from the clock.  The range is short because a break skips it, and
-- a flush before the clock has come there makes tokens fall.  clock_key comes to
-- the time of this request, so that the next grant knows a clock that was set
-- back since, and leaves the range out.  See common.lua for the records.
--
-- Or watch a permit: only a revoke tells the channel, and the claim's token is
-- the last.
--
-- ARGV: "OWNER TOKEN", channel, ttl in ms.
-- Answers "OTHERS LAST": whether another channel's owner is in the queue, 0 or
-- 1, and the last of the tokens; "0 0": the claim does not stand.
local call, sub = redis.call, string.sub
local queue_key, info_key = lock_key .. ':q', lock_key .. ':i'
local now = call('TIME')
if not lock_value or sub(lock_value, 3, 51) ~= ARGV[1] then
	local me, token = sub(ARGV[1], 1, 32), sub(ARGV[1], 34)
	local lease_end = call('ZSCORE', lock_key .. ':s', me)
	if not lease_end
		or tonumber(lease_end) <= math.floor(now[1] * 1000 + now[2] / 1000)
		or sub(call('HGET', info_key, me) or '', 3, 18) ~= token then
		return '0 0'
	end
	-- The record beside it has given info_key an expiry.
	call('HSET', info_key, '!' .. me, ARGV[2])
	return '0 ' .. token
end
local now_us = now[1] .. sub('00000' .. now[2], -6)
local reached = redis.pcall('GET', KEYS[2]) or '0'
local left = call('PTTL', lock_key)
local last = string.format('%016.0f', now_us
	+ math.max(math.min(65536, left * 1000), 0))
local before = string.match(call('HGET', info_key, '!') or '',
	'^' .. sub(ARGV[1], 1, 32) .. ' (%d+) ')
last = math.max(last, before or 0, sub(ARGV[1], 34))
last = string.format('%016.0f', last)
call('HSET', info_key, '!', sub(ARGV[1], 1, 32) .. ' ' .. last .. ' ' .. ARGV[2])
if call('PTTL', info_key) < tonumber(ARGV[3]) then
	call('PEXPIRE', info_key, ARGV[3])
end
if type(reached) == 'string' and reached .. '99999' < now_us then
	call('SET', KEYS[2], sub(now_us, 1, 11),
		'PXAT', sub(last, 1, 13) + 3600000)
end

local flag, others = sub(lock_value, 1, 1), '0'
local queued = flag == '1' or flag == '3'
for _, waiter in ipairs(queued and call('ZRANGE', queue_key, 0, 63) or {}) do
	local channel = string.match(call('HGET', info_key, waiter) or '',
		'^W %d+ %a %a %d+ %d+ (%S+) ')
	if channel and channel ~= ARGV[2] then
		others = '1'
		break
	end
end
call('SETRANGE', lock_key, '0', queued and '3' or '2')
return others .. ' ' .. last
