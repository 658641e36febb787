-- SPDX-License-Identifier: Apache-2.0
-- Ask for a claim, or ask again.
--
-- ARGV: owner, ttl in ms, tail (label and name),
--       "order mode limit look inbox": f|a x|s number number channel
-- Returns "<token>": it is ours; "B <ms>": busy, for so long at most if not 0;
-- "L <limit>": others have this limit; "F": what is in the way is none of ours
-- and does not expire; "N": a claim of ours that does not expire is in the way.
local me, ttl, tail = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local order, mode, limit, look, inbox =
	string.match(ARGV[4], '^(%a) (%a) (%d+) (%d+) (%S+)$')
local many = tonumber(limit)

-- A reply, or a message, was lost: the lease begins anew.
if X == me then
	call('PEXPIRE', B, ttl)
	return sub(v, 36, 51)
end
if n > 0 and call('ZSCORE', S, me) then
	local token = string.match(call('HGET', I, me) or '', '^H (%d+)')
	if token then
		call('ZADD', S, ms + ttl, me)
		keep_all(ttl)
		return token
	end
end

local half = math.ceil(ttl / 2)
local info = 'W ' .. string.format('%.0f', ms + half) .. ' ' .. order .. ' '
	.. mode .. ' ' .. limit .. ' ' .. look .. ' ' .. inbox .. ' ' .. half
	.. ' ' .. tail

local waiting
local free = not X and not foreign
if free then
	waiting = call('ZSCORE', Q, me)
	if waiting then
		call('HSET', I, me, info)
	end
	local was = n
	-- Not for nothing: after what may write, a full server would take the
	-- rest as well.
	if order == 'f' and call('EXISTS', Q) == 1 then
		hand_on(me, ttl)
	end
	if X == me then
		return floor
	end
	if n > was then
		rest()
		if mine then
			set_time()
			return mine
		end
	end
end

local line = (free or many > 0) and call('EXISTS', Q) == 1
if many > 0 and not waiting and (n > 0 or line) then
	local known = string.match(call('HGET', I, '.') or '', '^(%d+) ')
	if known and known ~= limit then
		set_time()
		return 'L ' .. known
	end
end

free = not X and not foreign
	and (mode == 'x' and n == 0 or mode == 's' and (many == 0 or n < many))
if free and (order == 'a' or not line) then
	if waiting then
		call('ZREM', Q, me)
		call('HDEL', I, me)
	end
	if mode == 'x' then
		local sign = call('EXISTS', Q) == 1 and '1 ' or '0 '
		call('SET', B, sign .. me .. ' ' .. fresh() .. ' ' .. tail,
			'PX', ARGV[2])
		return floor
	end
	local token = fresh()
	share(me, tail, ttl, limit, token)
	rest()
	set_time()
	return token
end

if mutex then
	call('HSET', I, me, info)
else
	call('HSET', I, me, info, '.', limit .. ' ' .. tail)
end
-- In the order of the clock: one that is set back lets some overtake, once.
local came = call('ZADD', Q, 'NX', us, me) == 1
if came then
	if not X then
		rest()
	elseif not given and sub(v, 1, 1) == '0' then
		call('SETRANGE', B, '0', '1')
	end
end
if call('PTTL', Q) < ttl then
	if mutex then
		call('PEXPIRE', I, ARGV[2])
	end
	call('PEXPIRE', Q, ARGV[2])
end
if not mutex then
	keep(I, ttl)
end

-- Those who died in line, of some of it.
local function clear(first, last)
	local dead = 0
	for _, w in ipairs(call('ZRANGE', Q, first, last)) do
		local life = string.match(call('HGET', I, w) or '', '^W (%d+)')
		if not life or tonumber(life) <= ms then
			leave(w)
			dead = dead + 1
		end
	end
	return dead
end

-- While nobody is granted anything, only who looks can clear the dead away: at
-- the head, and wherever chance has it.  Who has just come leaves the latter to
-- others, unless there are many.
local rank = call('ZRANK', Q, me) or 0
if rank > 3 then
	local dead = clear(0, 0)
	if dead > 0 then
		dead = dead + clear(0, 255)
	end
	if not came or rank > 63 then
		local at = t[2] % rank
		dead = dead + clear(at, at + 15)
	end
	if dead > 0 then
		rank = call('ZRANK', Q, me) or 0
	end
end

-- The end of what is in the way matters to who is about to be next.
local left = 0
if X or foreign then
	left = given or call('PTTL', B)
	if left == -1 then
		return foreign and 'F' or 'N'
	end
elseif n > 0 then
	-- Those that were only woken are counted, and are not in it.
	left = math.max((call('ZRANGE', S, 0, 0, 'WITHSCORES')[2] or ms) - ms, 0)
end
set_time()
if left > ttl or rank > 3 then
	return 'B 0'
end
return 'B ' .. math.max(left, 0) + 1
