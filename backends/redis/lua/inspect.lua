-- SPDX-License-Identifier: Apache-2.0
-- Who holds and who waits, in order: "X left owner token tail",
-- "S left owner token tail", "W x|s owner tail", "F left".  Changes nothing.
local call = redis.call
local B = KEYS[1]
local S, I = B .. ':s', B .. ':i'
local t = call('TIME')
local ms = math.floor((t[1] .. string.sub('00000' .. t[2], -6)) / 1000)
local out = {}

local v = call('GET', B)
if v and not string.find(v, '^=?%d+$') then
	local rest = string.match(v, '^[01] (%x+ %d+ .*)$')
	out[1] = rest and 'X ' .. call('PTTL', B) .. ' ' .. rest
		or 'F ' .. call('PTTL', B)
end
local held = call('ZRANGEBYSCORE', S, '(' .. ms, '+inf', 'WITHSCORES')
for i = 1, #held, 2 do
	local rest = string.match(call('HGET', I, held[i]) or '', '^H (.*)$')
	if rest then
		out[#out + 1] = 'S ' .. string.format('%.0f', held[i + 1] - ms)
			.. ' ' .. held[i] .. ' ' .. rest
	end
end
for _, w in ipairs(call('ZRANGE', B .. ':q', 0, -1)) do
	local life, mode, tail = string.match(call('HGET', I, w) or '',
		'^W (%d+) %a (%a) %d+ %d+ %S+ %d+ (.*)$')
	if life and tonumber(life) > ms then
		out[#out + 1] = 'W ' .. mode .. ' ' .. w .. ' ' .. tail
	end
end
return out
