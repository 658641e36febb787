-- SPDX-License-Identifier: Apache-2.0
-- An exclusive claim that nothing stands against; anything else goes on to
-- what follows this file.  See take.lua for the arguments.
local v = redis.call('GET', KEYS[1])
if v and #v == 18 and string.sub(v, 1, 2) == '- '
	or not v and redis.call('EXISTS', KEYS[1] .. ':q', KEYS[1] .. ':s',
		KEYS[1] .. ':f') == 0 then
	local t = redis.call('TIME')
	local token = t[1] .. string.sub('00000' .. t[2], -6)
	if not v or string.sub(v, 3) < token then
		redis.call('SET', KEYS[1], '0 ' .. ARGV[1] .. ' ' .. token
			.. ' ' .. ARGV[3], 'PX', ARGV[2])
		return token
	end
end
