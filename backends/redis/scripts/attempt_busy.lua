-- SPDX-License-Identifier: Apache-2.0
-- needs: attempt_fast: lock_key lock_value
--
-- An exclusive attempt, in turn, on a lock that another client holds
-- exclusively and does not watch, while fewer than four wait.  The parts that
-- follow would answer the same, but first make functions for all cases.
do
	local call, record = redis.call, ARGV[4]
	local state, owner, payload_at, lease, blank = string.match(
		lock_value or '', '^([01]) (%x+) %d+ ()(%d*)( ?)')
	local queue_key, info_key = lock_key .. ':q', lock_key .. ':i'
	local waiting = payload_at == 53 and #owner == 32 and owner ~= ARGV[1]
		and string.sub(record, 1, 6) == 'f x 0 '
		and #call('ZRANGE', queue_key, '0', '3')
	if waiting and waiting < 4 then
		local now, ttl = call('TIME'), tonumber(ARGV[2])
		local now_us = now[1] .. string.sub('00000' .. now[2], -6)
		local half_ttl = math.ceil(ttl / 2)
		local expiry = math.floor(now_us / 1000) + half_ttl
		call('HSET', info_key, ARGV[1], 'W ' .. expiry .. ' ' .. record
			.. ' ' .. half_ttl .. ' ' .. ARGV[3])
		local is_new = call('ZADD', queue_key, 'NX', now_us, ARGV[1])
		if is_new == 1 and state == '0' then
			call('SETRANGE', lock_key, '0', '1')
		end
		-- The server may have evicted the records of those that wait.
		if waiting == 0 or call('PTTL', queue_key) < ttl
			or call('PTTL', info_key) < ttl then
			call('PEXPIRE', info_key, ARGV[2])
			call('PEXPIRE', queue_key, ARGV[2])
		end
		local left = call('PTTL', lock_key)
		if left == -1 then
			return 'N'
		end
		lease = blank == ' ' and tonumber(lease)
		if lease and left > lease then
			left = lease
			call('PEXPIRE', lock_key, lease)
		end
		local look_in = left > ttl and 0 or math.max(left, 0) + 1
		return 'B ' .. look_in .. ' ' .. now_us
	end
end
