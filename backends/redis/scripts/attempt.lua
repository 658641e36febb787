-- SPDX-License-Identifier: Apache-2.0
-- needs: get|attempt_fast: lock_key lock_value
-- needs: common: call sub now now_us now_ms queue_key holders_key info_key
-- needs: common: foreign holder largest_token n_shared exclusive_life
-- needs: common: my_token extend extend_all next_token store_token
-- needs: common: grant_shared grant_next set_expiries dequeue
-- needs: common: find_set_limit limit_record set_limit more_permits n_more
-- needs: common: is_free_of_readers settle
-- needs: common: watcher tell_watcher
--
-- An attempt: a request's first or another.
--
-- ARGV: owner, ttl in ms, label payload, wait record; see common.lua.
-- Answers "<token>": granted; "B <ms> <clock>": busy, for so long at most unless
-- 0; "L <limit>": the others have this limit; "F": the key is not ours and does
-- not expire; "N": the key is ours but does not expire.
local me, ttl, payload = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local order, mode, limit, attempt, channel =
	string.match(ARGV[4], '^(%a) (%a) (%d+) (%d+) (%S+)$')
local permits, wanted = tonumber(limit), 1 + more_permits(payload)
local reader = n_shared > 0 and string.match(payload, '^%d+%^(%x+) ')
local is_upgrade = reader and call('ZSCORE', holders_key, reader)

-- Granted already: a reply or a grant message was lost.  The lease begins anew.
if holder == me then
	call('PEXPIRE', lock_key, ttl)
	return sub(lock_value, 36, 51)
end
if n_shared > 0 and call('ZSCORE', holders_key, me) then
	local token = string.match(call('HGET', info_key, me) or '', '^H (%d+)')
	if token then
		call('ZADD', holders_key, now_ms + ttl, me)
		extend_all(ttl)
		return token
	end
end

-- Does one that keeps its turn wait first?  Whatever this one says of the order,
-- it does not overtake a waiter for several permits.
local function is_led()
	local first = permits > 0 and call('ZRANGE', queue_key, '0', '0')[1]
	return first and string.find(call('HGET', info_key, first) or '',
		'^W %d+ f')
end

-- A writer that has met readers keeps the turn, whatever order it asks for.  If
-- it were only woken, others would overtake it, without end.  But a grant
-- message would leave out a plain key.
local turn = order
if mode == 'x' and order == 'a' and not KEYS[3] and (n_shared > 0
	or string.find(call('HGET', info_key, me) or '', '^W %d+ f')) then
	turn = 'f'
end
local half_ttl = math.ceil(ttl / 2)
local wait_info = 'W ' .. string.format('%.0f', now_ms + half_ttl) .. ' '
	.. turn .. ' ' .. mode .. ' ' .. limit .. ' ' .. attempt .. ' '
	.. channel .. ' ' .. half_ttl .. ' ' .. payload

-- Is it our turn, with others ahead of us or without?
local in_queue
local free = not holder and not foreign
if free then
	in_queue = call('ZSCORE', queue_key, me)
	if in_queue then
		call('HSET', info_key, me, wait_info)
	end
	local n_shared_before = n_shared
	-- Only if there is a queue: grant_next() may write, and after a write
	-- a full server would accept the rest, too.
	if (order == 'f' or is_led()) and call('EXISTS', queue_key) == 1 then
		grant_next(me, ttl)
	end
	if holder == me then
		return largest_token
	end
	if n_shared > n_shared_before then
		store_token()
		if my_token then
			set_expiries()
			return my_token
		end
	end
end

local has_queue = (free or permits > 0) and call('EXISTS', queue_key) == 1
if permits > 0 and (n_shared > 0 or has_queue) then
	local known = not find_set_limit() and not in_queue and string.match(
		call('HGET', info_key, '.') or '', '^(%d+) ')
	if known and known ~= limit then
		set_expiries()
		return 'L ' .. known
	end
	permits = set_limit or permits
	if wanted > permits then
		dequeue(me)
		settle()
		return 'L ' .. permits
	end
else
	-- Without a user the set number is forgotten.
	set_limit = false
end

free = not holder and not foreign and (mode == 'x'
	and is_free_of_readers(payload) or mode == 's' and (permits == 0
		or n_shared + n_more + wanted <= permits))
if free and (not has_queue or is_upgrade or order == 'a' and not is_led()) then
	if in_queue then
		dequeue(me)
	end
	if mode == 'x' then
		local queued = n_shared > 0 and '4 '
			or call('EXISTS', queue_key) == 1 and '1 ' or '0 '
		call('SET', lock_key,
			queued .. me .. ' ' .. next_token() .. ' ' .. payload,
			'PX', ARGV[2])
		return largest_token
	end
	local token = next_token()
	grant_shared(me, payload, ttl, permits, token)
	store_token()
	set_expiries()
	return token
end

-- Busy: enqueue.
if permits > 0 then
	call('HSET', info_key, me, wait_info, '.', limit_record(limit, payload))
else
	call('HSET', info_key, me, wait_info)
end
-- The queue is in the order of the clock.  If the clock is set back, later
-- waiters overtake earlier ones.
local is_new = call('ZADD', queue_key, 'NX', is_upgrade and '0' or now_us, me)
	== 1
if is_new then
	if not holder then
		store_token()
	elseif not exclusive_life then
		local state = sub(lock_value, 1, 1)
		if state == '0' or state == '2' then
			call('SETRANGE', lock_key, '0', state + 1)
		end
	end
end
if holder and watcher ~= channel then
	tell_watcher()
end
-- The server may have evicted either, so that it is new.
extend(info_key, ttl)
extend(queue_key, ttl)

-- Remove the dead waiters of a part of the queue; returns how many.
local function remove_dead(first, last)
	local removed = 0
	for _, waiter in ipairs(call('ZRANGE', queue_key, first, last)) do
		local expiry = string.match(
			call('HGET', info_key, waiter) or '', '^W (%d+)')
		if not expiry or tonumber(expiry) <= now_ms then
			dequeue(waiter)
			removed = removed + 1
		end
	end
	return removed
end

-- While no claim is granted, only attempts can remove dead waiters: at the head
-- of the queue, and at a random place.  A new waiter leaves the random place to
-- the others, unless the queue is long.
local rank = call('ZRANK', queue_key, me) or 0
if rank > 3 then
	local removed = remove_dead(0, 0)
	if removed > 0 then
		removed = removed + remove_dead(0, 255)
	end
	if not is_new or rank > 63 then
		local at = now[2] % rank
		removed = removed + remove_dead(at, at + 15)
	end
	if removed > 0 then
		rank = call('ZRANK', queue_key, me) or 0
	end
end

-- The first waiters are told when the holder's lease ends.  A holder with more
-- time left than its whole lease got it from a clock that was set back since:
-- it is left one lease from now, which is as much as it can have.
local left = 0
if holder or foreign then
	left = exclusive_life or call('PTTL', lock_key)
	if left == -1 then
		return foreign and 'F' or 'N'
	end
	local lease = holder and not exclusive_life
		and tonumber(string.match(lock_value, '^(%d+)[%^ ]', 53))
	if lease and left > lease then
		left = lease
		call('PEXPIRE', lock_key, lease)
		-- The key may expire before the clock has passed the tokens that
		-- were set aside.
		if watcher then
			next_token()
		end
	end
elseif n_shared > 0 then
	local longest = call('ZRANGE', holders_key, '+inf', '(' .. now_ms + ttl,
		'BYSCORE', 'REV', 'LIMIT', '0', '64', 'WITHSCORES')
	for i = 1, #longest, 2 do
		local lease = tonumber(string.match(
			call('HGET', info_key, longest[i]) or '',
			'^H %d+ (%d+)[*^ ]'))
		if lease and longest[i + 1] - now_ms > lease then
			call('ZADD', holders_key, now_ms + lease, longest[i])
		end
	end
	-- Waiters that were only woken are counted in n_shared, but hold no
	-- lease.
	left = math.max((call('ZRANGE', holders_key, 0, 0, 'WITHSCORES')[2]
		or now_ms) - now_ms, 0)
end
set_expiries()
local look_in = (left > ttl or rank > 3) and 0 or math.max(left, 0) + 1
return 'B ' .. look_in .. ' ' .. now_us
