-- SPDX-License-Identifier: Apache-2.0
-- The holders and the waiters, in order; with an argument, only the holders.
-- Changes nothing.  See common.lua for the records.
--
-- Answers a list of "L LIMIT", of the semaphore, ahead of the participants;
-- "X LEFT OWNER TOKEN PAYLOAD", an exclusive holder;
-- "S LEFT OWNER TOKEN PAYLOAD", a shared holder; "W x|s OWNER PAYLOAD", a
-- waiter; "F LEFT", a key that is not ours; "P LEFT", the plain key, if another
-- client has it.  LEFT is in ms; -1: no expiry.
--
-- KEYS: the lock's key; and maybe the plain key.
local call = redis.call
local lock_key = KEYS[1]
local holders_key, info_key = lock_key .. ':s', lock_key .. ':i'
local now = call('TIME')
local now_ms = math.floor((now[1] .. string.sub('00000' .. now[2], -6)) / 1000)
local list = {}

local limit = string.match(call('HGET', info_key, '.') or '', '^(%d+)=? ')
if limit then
	list[1] = 'L ' .. limit
end
local lock_value = call('GET', lock_key)
if lock_value and not string.find(lock_value, '^=?%d+$') then
	local rest = string.match(lock_value, '^[0-4] (%x+ %d+ .*)$')
	list[#list + 1] = rest and 'X ' .. call('PTTL', lock_key) .. ' ' .. rest
		or 'F ' .. call('PTTL', lock_key)
end
local plain_value = KEYS[2] and call('GET', KEYS[2])
if plain_value and string.sub(plain_value, 3, 51)
	~= string.sub(lock_value or '', 3, 51) then
	-- The plain key is another prefix's, or a foreign client's.
	local rest = string.match(plain_value, '^0 (%x+ %d+ .*)$')
	list[#list + 1] = (rest and 'X ' or 'P ') .. call('PTTL', KEYS[2])
		.. (rest and ' ' .. rest or '')
end
local held = call('ZRANGEBYSCORE', holders_key, '(' .. now_ms, '+inf',
	'WITHSCORES')
for i = 1, #held, 2 do
	local rest = string.match(call('HGET', info_key, held[i]) or '',
		'^H (.*)$')
	if rest then
		list[#list + 1] = 'S '
			.. string.format('%.0f', held[i + 1] - now_ms)
			.. ' ' .. held[i] .. ' ' .. rest
	end
end
local waiters = ARGV[1] and {} or call('ZRANGE', lock_key .. ':q', 0, -1)
for _, waiter in ipairs(waiters) do
	local expiry, mode, payload = string.match(
		call('HGET', info_key, waiter) or '',
		'^W (%d+) %a (%a) %d+ %d+ %S+ %d+ (.*)$')
	if expiry and tonumber(expiry) > now_ms then
		list[#list + 1] = 'W ' .. mode .. ' ' .. waiter .. ' '
			.. payload
	end
end
return list
