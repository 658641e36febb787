-- SPDX-License-Identifier: Apache-2.0
-- The end of a mutex that others wait for, if the first of them is alive and
-- wants it in its turn.  Continues release_fast.lua; anything else goes on to
-- what follows this file.  Not ZPOPMIN: to write the score costs more than two
-- commands that need none.
if v and string.sub(v, 1, 1) == '1'
	and string.sub(v, 3, 51) == string.sub(ARGV[1], 3) then
	local line, known = KEYS[1] .. ':q', KEYS[1] .. ':i'
	local w = redis.call('ZRANGE', line, '0', '0')[1]
	local life, look, inbox, half, tail = string.match(
		w and redis.call('HGET', known, w) or '',
		'^W (%d+) f x %d+ (%d+) (%S+) (%d+) (.*)$')
	if life then
		local t = redis.call('TIME')
		local us = t[1] .. string.sub('00000' .. t[2], -6)
		if life > string.sub(us, 1, 13) and string.sub(v, 36, 51) < us
			and redis.call('GET', KEYS[2]) == string.sub(us, 1, 11)
		then
			-- First: who has written may write on a full server.
			redis.call('ZREM', line, w)
			redis.call('HDEL', known, w)
			redis.call('SET', KEYS[1], '1 ' .. w .. ' ' .. us .. ' '
				.. tail, 'PX', half)
			redis.pcall('PUBLISH', inbox, w .. ' ' .. look .. ' '
				.. us)
			return 1
		end
	end
end
