-- SPDX-License-Identifier: Apache-2.0
-- The state of one lock, and passing it on.  Part of every script that is not
-- on the short way.  docs/redis.md describes the keys.
--
-- Redis 7.0 judges what has expired by the time at which the script began, and
-- sets expiries by the clock.  If that is set back meanwhile, a key looks dead
-- to the script that gave it its time, and the next command that touches it
-- deletes it.  So to set the time is the last that is done with a key.
local call, sub = redis.call, string.sub
local B, CLOCK = KEYS[1], KEYS[2]
local Q, S, I = B .. ':q', B .. ':s', B .. ':i'
local t = call('TIME')
-- 16 digits also of a clock that begins in 1970.
local us = sub('000000000' .. t[1], -10) .. sub('00000' .. t[2], -6)
local ms = math.floor(us / 1000)

local NONE = '0000000000000000'
local mutex = string.find(B, '{m', 1, true) -- has no shared holders
local foreign = false  -- B is not ours
local X                -- owner of the exclusive claim
local floor = NONE     -- the largest token known
local n = 0            -- shared holders
local lasting = 0      -- who was granted shared has it for so long
local given            -- ms: B was written anew for that
local mine             -- token that was granted to who asks, if shared

if v then
	if string.find(v, '^[01] %x+ %d+ ') and sub(v, 35, 35) == ' '
		and sub(v, 52, 52) == ' ' then
		X, floor = sub(v, 3, 34), sub(v, 36, 51)
	elseif (#v == 16 or #v == 17) and string.find(v, '^=?%d+$') then
		floor = sub(v, -16)
	else
		foreign = true
	end
end
if not mutex then
	for _, w in ipairs(call('ZRANGEBYSCORE', S, '-inf', ms)) do
		call('ZREM', S, w)
		call('HDEL', I, w)
	end
	n = call('ZCARD', S)
end

-- SET that works on a full server too: once a script has written, no more is
-- refused.
local function put(value, unit, time)
	local r = redis.pcall('SET', B, value, unit, time)
	if r.err then
		call('DEL', B)
		call('SET', B, value, unit, time)
	end
end

local function keep(key, life)
	if call('PTTL', key) < life then
		call('PEXPIRE', key, life)
	end
end

-- The next token.  CLOCK says how far tokens may have come, whichever lock's:
-- 11 digits, to the end of that tenth of a second; 16, to this very one, because
-- the server's clock was set back.
local function fresh()
	local reached = call('GET', CLOCK) or NONE
	if string.find(reached, '%D') or #reached ~= 11 and #reached ~= 16 then
		error('WRONGTYPE')
	end
	local slow = #reached == 16
	local most = slow and reached or reached .. '99999'
	local note
	if us > most or not slow and sub(us, 1, 11) == reached then
		if floor >= us then
			floor = string.format('%016.0f', floor + 1)
		else
			floor = us
		end
		if floor > most then
			note = sub(floor, 1, 11)
		end
	else
		floor = string.format('%016.0f', math.max(most, floor) + 1)
		note = floor
	end
	if floor >= '9007199254740990' then
		error('DLOCKEXHAUSTED')
	end
	if note then
		call('SET', CLOCK, note, 'PXAT', sub(floor, 1, 13) + 3600000)
	end
	return floor
end

-- With nobody exclusive, B keeps the largest token; its sign says whether there
-- is more to look at than B.
local function rest()
	if X or foreign then
		return
	end
	if n > 0 or call('EXISTS', Q, S) > 0 then
		put('=' .. floor, 'PXAT', math.max(ms, sub(floor, 1, 13)) + 1000)
	else
		if not mutex then
			call('DEL', I)
		end
		if floor ~= NONE then
			put(floor, 'PXAT', sub(floor, 1, 13) + 1000)
		end
	end
end

-- `queued`: somebody will be in the line who is not yet.
local function exclude(owner, tail, life, queued)
	local line = (queued or call('EXISTS', Q) == 1) and '1 ' or '0 '
	X, given = owner, tonumber(life)
	if line == '0 ' and not mutex then
		call('DEL', I)
	end
	put(line .. owner .. ' ' .. fresh() .. ' ' .. tail, 'PX', life)
end

-- What I tells of lasts for as long as I: only what is found dead in the line is
-- taken out of I, and so is a holder, of whom the last to die is in S for a
-- second more.
local function keep_all(life)
	keep(S, life + 1000)
	keep(Q, life + 1000)
	keep(I, life + 1000)
end

local function share(owner, tail, life, limit, token)
	n = n + 1
	call('ZADD', S, ms + life, owner)
	call('HSET', I, owner, 'H ' .. token .. ' ' .. tail, '.',
		limit .. ' ' .. tail)
	lasting = math.max(lasting, life)
end

-- At the end of each script that may have granted.
local function set_time()
	if lasting > 0 then
		keep_all(lasting)
	end
end

local function leave(owner)
	call('ZREM', Q, owner)
	call('HDEL', I, owner)
end

-- Grant to those in line whose turn it is, in their order, and tell them.  `me`
-- need not be told, and has it for `whole`.
local function hand_on(me, whole)
	while not X and not foreign do
		local w = call('ZRANGE', Q, '0', '0')[1]
		if not w then
			return
		end
		local life, order, mode, limit, look, inbox, half, tail =
			string.match(call('HGET', I, w) or '',
				'^W (%d+) (%a) (%a) (%d+) (%d+) (%S+) (%d+) (.*)$')
		if not life or tonumber(life) <= ms then
			leave(w)
		else
			limit = tonumber(limit)
			if mode == 'x' and n > 0
				or mode == 's' and limit > 0 and n >= limit then
				return
			end
			leave(w)
			if w == me then
				half = whole
			end
			local token = '0'
			if order == 'a' and w ~= me then
				-- Only woken: it asks again, as others may.
				if mode == 's' then
					n = n + 1
				end
			elseif mode == 'x' then
				exclude(w, tail, half, me and w ~= me)
				token = floor
			else
				token = fresh()
				share(w, tail, tonumber(half), limit, token)
				if w == me then
					mine = token
				end
			end
			if w ~= me then
				-- Without a right to the channel it finds out when it looks.
				redis.pcall('PUBLISH', inbox,
					w .. ' ' .. look .. ' ' .. token)
			end
			if order == 'a' and mode == 'x' then
				return
			end
		end
	end
end
