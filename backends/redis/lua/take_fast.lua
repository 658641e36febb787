-- SPDX-License-Identifier: Apache-2.0
-- An exclusive claim that nothing stands against, within a tenth of a second
-- that tokens have come to before; anything else goes on to what follows this
-- file.  See take.lua for the arguments.
local v = redis.call('GET', KEYS[1])
if v and #v == 16 and not string.find(v, '%D')
	or not v and redis.call('EXISTS', KEYS[1] .. ':q', KEYS[1] .. ':s') == 0
then
	local t = redis.call('TIME')
	local us = t[2]
	if #us < 6 then
		us = string.sub('00000' .. us, -6)
	end
	us = t[1] .. us
	if redis.call('GET', KEYS[2]) == string.sub(us, 1, 11)
		and (not v or v < us) then
		redis.call('SET', KEYS[1], '0 ' .. ARGV[1] .. ' ' .. us
			.. ' ' .. ARGV[3], 'PX', ARGV[2])
		return us
	end
end
