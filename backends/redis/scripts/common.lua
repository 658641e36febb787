-- SPDX-License-Identifier: Apache-2.0
-- needs: get|attempt_fast|release_fast: lock_key lock_value
--
-- The state of one lock, and the functions that grant it.  Part of every script
-- that changes a lock, after the part with the fast path.
--
-- Records.  Numbers are decimal; TOKEN has 16 digits, OWNER 32 hex digits.
--
--   key           type        element    value
--   lock_key      string                 "STATE OWNER TOKEN PAYLOAD": held
--                                        exclusively.  STATE is 0; 1 if there
--                                        are waiters; 2 if the holder is to be
--                                        told who asks; 3 if both; 4 if it was
--                                        granted beside a shared holder
--                                        "TOKEN": not held; the largest token
--                                        "=TOKEN": likewise, but there are
--                                        shared holders or waiters
--   holders_key   sorted set  OWNER      end of the shared holder's lease, ms
--   queue_key     sorted set  OWNER      when the waiter came, us
--   info_key      hash        OWNER      "H TOKEN PAYLOAD": a shared holder
--                                        "W EXPIRY WAIT LEASE PAYLOAD": a
--                                        waiter
--                             "."        "LIMIT PAYLOAD": of the semaphore;
--                                        "LIMIT= PAYLOAD": an operator has set
--                                        the limit, for as long as there
--                                        are holders or waiters
--                             "+"        permits of the semaphore that are
--                                        held beyond one for each holder
--                             "!"        "OWNER TOKEN CHANNEL": of the exclusive
--                                        holder that is to be told; TOKEN is
--                                        the last that was set aside for it
--                             "!OWNER"   CHANNEL: of the holder of a permit
--                                        that is to be told of a revoke
--   clock_key     string                 11 digits: the clock has come to this
--                                        tenth of a second.  No token is
--                                        more than 65,536 us beyond it
--                                        16 digits: tokens have come to this
--                                        one; the server's clock was set back
--
--   PAYLOAD  "LEASE LABEL\nNAME"; LEASE in ms.  "LEASE*PERMITS LABEL\nNAME" of
--            one that has, or waits for, several permits.  "LEASE^OWNER
--            LABEL\nNAME" of an upgrade; OWNER is the shared holder's
--   WAIT     "ORDER MODE LIMIT ATTEMPT CHANNEL"; ORDER is f (fair) or a (any),
--            MODE is x (exclusive) or s (shared); as the client sends it
--   EXPIRY   when a waiter that makes no other attempt counts as dead, ms
--   LEASE    of a waiter: the lease of a grant message, half a ttl, ms
--
-- While the lock is held exclusively, holders_key is empty, unless STATE is 4:
-- shared holders are granted only without an exclusive holder, and an exclusive
-- holder only when the shared holders are gone, or have died and were removed.
-- An upgrade leaves the shared holder of the same client there, and stands first
-- in the queue until then, with the score 0.  No fast path takes STATE 4.
-- holders_key and queue_key are both empty while lock_key is a TOKEN without a sign: a script
-- that writes to them puts the sign there.
--
-- A grant message, published to CHANNEL: "OWNER ATTEMPT TOKEN CLOCK".  TOKEN is
-- 0 if the lock was not granted, and the waiter should make another attempt.
-- CLOCK is the server's, in us, read before the script granted: a lease counted
-- from there is no longer than the key's.  BUSY has the clock, too.
--
-- Redis 7.0 decides whether a key has expired by the time at which the script
-- began, but sets expiries by the clock.  If the clock is set back in between,
-- a key looks dead to the script that set its expiry, and the next command that
-- touches the key deletes it.  So setting the expiry is the last thing that a
-- script does with a key.
local call, sub = redis.call, string.sub
local clock_key = KEYS[2]
local queue_key, holders_key = lock_key .. ':q', lock_key .. ':s'
local info_key = lock_key .. ':i'
local now = call('TIME')
-- 16 digits, even of a clock that begins in 1970.
local now_us = sub('000000000' .. now[1], -10) .. sub('00000' .. now[2], -6)
local now_ms = math.floor(now_us / 1000)

local NO_TOKEN = '0000000000000000'
local foreign = false          -- lock_key is not ours
local holder                   -- owner that holds the lock exclusively
local is_upgraded              -- holder has a shared holder beside it
local is_unused                -- no holder and no waiter, for sure
local largest_token = NO_TOKEN -- as far as known
local n_shared = 0             -- shared holders
local n_more = 0               -- permits of a semaphore that they have beyond
                               -- one each
local shared_life = 0          -- longest lease given to one by this script, ms
local exclusive_life           -- lease of lock_key by this script, ms
local my_token                 -- given to the caller, as a shared holder
local watcher                  -- channel that is told who asks for the lock
local set_limit                -- of a semaphore in use, by an operator; nil:
                               -- not known, false: none

if lock_value then
	if string.find(lock_value, '^[0-4] %x+ %d+ ')
		and sub(lock_value, 35, 35) == ' '
		and sub(lock_value, 52, 52) == ' ' then
		holder = sub(lock_value, 3, 34)
		largest_token = sub(lock_value, 36, 51)
		local state = sub(lock_value, 1, 1)
		is_upgraded = state == '4'
		if state == '2' or state == '3' then
			local owner, last, channel = string.match(
				call('HGET', info_key, '!') or '',
				'^(%x+) (%d+) (%S+)$')
			if owner ~= holder then
				last = string.format('%016.0f',
					now_us + 65536)
				channel = nil
			end
			watcher = channel
			largest_token = math.max(last, largest_token)
			largest_token = string.format('%016.0f', largest_token)
		end
	elseif string.find(lock_value, '^=?%d+$')
		and #lock_value == (sub(lock_value, 1, 1) == '=' and 17 or 16)
	then
		largest_token = sub(lock_value, -16)
		is_unused = #lock_value == 16
	else
		foreign = true
	end
end
local was_exclusive = holder ~= nil
if (not holder or is_upgraded) and not is_unused then
	n_shared = call('ZCARD', holders_key)
end

-- Permits beyond one, by the record or the payload of a participant.
local function more_permits(record)
	return (tonumber(string.match(record or '', '^%d+%*(%d+) ')
		or string.match(record or '', '^H %d+ %d+%*(%d+) ')) or 1) - 1
end

local function remove_shared(owner)
	if n_more > 0 then
		local n = more_permits(call('HGET', info_key, owner))
		if n > 0 then
			n_more = math.max(n_more - n, 0)
			call('HSET', info_key, '+', string.format('%.0f', n_more))
		end
	end
	call('HDEL', info_key, owner, '!' .. owner)
	n_shared = n_shared - 1
end

if n_shared > 0 then
	if string.find(lock_key, '{s', 1, true) then
		n_more = tonumber(call('HGET', info_key, '+') or 0)
	end
	for _, owner in ipairs(
		call('ZRANGEBYSCORE', holders_key, '-inf', now_ms)) do
		call('ZREM', holders_key, owner)
		remove_shared(owner)
	end
end

-- A SET for a full server, too: after a script's first write, the server
-- refuses no other.
local function set_lock(value, unit, time)
	local reply = redis.pcall('SET', lock_key, value, unit, time)
	if reply.err then
		call('DEL', lock_key)
		call('SET', lock_key, value, unit, time)
	end
end

local function extend(key, life)
	if call('PTTL', key) < life then
		call('PEXPIRE', key, life)
	end
end

-- The next token: the server's time in us, but larger than the lock's largest
-- token, and, when the clock was set back, than every token of the prefix, and
-- every token that was set aside: a client that has died may have used it.
local function next_token()
	local reached = redis.pcall('GET', clock_key) or NO_TOKEN
	if type(reached) ~= 'string' or string.find(reached, '%D')
		or #reached ~= 11 and #reached ~= 16 then
		error('DLOCKCLOCK')
	end
	local was_set_back = #reached == 16
	local most = was_set_back and reached or reached .. '99999'
	local note
	if now_us > most
		or not was_set_back and sub(now_us, 1, 11) == reached then
		if largest_token >= now_us then
			largest_token = string.format('%016.0f',
				largest_token + 1)
		else
			largest_token = now_us
		end
		if now_us > most then
			note = sub(now_us, 1, 11)
		end
	else
		if not was_set_back then
			most = most + 65536
		end
		largest_token = string.format('%016.0f',
			math.max(most, largest_token) + 1)
		note = largest_token
	end
	if largest_token >= '9007199254740990' then
		error('DLOCKEXHAUSTED')
	end
	if note then
		call('SET', clock_key, note,
			'PXAT', sub(largest_token, 1, 13) + 3600000)
	end
	return largest_token
end

-- Write lock_key, without an exclusive holder: it keeps the largest token until
-- a second after the clock has passed the token.
local function store_token()
	if holder or foreign then
		return
	end
	if n_shared > 0 or call('EXISTS', queue_key, holders_key) > 0 then
		set_lock('=' .. largest_token, 'PXAT',
			math.max(now_ms, sub(largest_token, 1, 13)) + 1000)
	else
		-- An exclusive holder has no entry there.
		if not was_exclusive then
			call('DEL', info_key)
		end
		if largest_token ~= NO_TOKEN then
			set_lock(largest_token, 'PXAT',
				sub(largest_token, 1, 13) + 1000)
		end
	end
end

-- Do the shared holders leave the lock to an exclusive waiter?  An upgrade goes
-- beside the shared holder of the same client.
local function is_free_of_readers(payload)
	local reader = n_shared == 1 and string.match(payload, '^%d+%^(%x+) ')
	return n_shared == 0 or reader and call('ZSCORE', holders_key, reader)
end

-- `will_queue`: the caller will be in the queue, but is not yet.
local function grant_exclusive(owner, payload, life, will_queue)
	local queued = n_shared > 0 and '4 '
		or (will_queue or call('EXISTS', queue_key) == 1) and '1 '
		or '0 '
	holder, exclusive_life = owner, tonumber(life)
	set_lock(queued .. owner .. ' ' .. next_token() .. ' ' .. payload,
		'PX', life)
end

-- Let info_key last as long as the participants.  A participant's entry is
-- removed only together with the participant, so the keys outlive the lease of
-- the last shared holder by a second.
local function extend_all(life)
	extend(holders_key, life + 1000)
	extend(queue_key, life + 1000)
	extend(info_key, life + 1000)
end

-- While the semaphore is in use.
local function find_set_limit()
	if set_limit == nil then
		set_limit = tonumber(string.match(
			call('HGET', info_key, '.') or '', '^(%d+)= '))
			or false
	end
	return set_limit
end

local function limit_record(limit, payload)
	return (set_limit and set_limit .. '=' or limit) .. ' ' .. payload
end

local function grant_shared(owner, payload, life, limit, token)
	n_shared = n_shared + 1
	call('ZADD', holders_key, now_ms + life, owner)
	local record = 'H ' .. token .. ' ' .. payload
	if limit > 0 then
		n_more = (n_shared > 1 and n_more or 0) + more_permits(payload)
		call('HSET', info_key, owner, record, '.',
			limit_record(limit, payload), '+',
			string.format('%.0f', n_more))
	else
		call('HSET', info_key, owner, record)
	end
	shared_life = math.max(shared_life, life)
end

-- Set expiries, at the end of each script that may have granted.
local function set_expiries()
	if shared_life > 0 then
		extend_all(shared_life)
	end
end

-- Tell the exclusive holder that another session asks.
local function tell_watcher()
	if watcher then
		redis.pcall('PUBLISH', watcher, holder .. ' 0 0')
	end
end

-- End the exclusive hold; `last` is the last token that it used, or nil: it may
-- have used all that were set aside.
local function end_holder(last)
	holder = nil
	if watcher then
		call('HDEL', info_key, '!')
	end
	if last and sub(lock_value, 1, 1) > '1' then
		largest_token = last
	end
end

local function dequeue(owner)
	call('ZREM', queue_key, owner)
	call('HDEL', info_key, owner)
end

-- Grant the lock to the next waiters, in the order of the queue, and tell them.
-- The caller, `me`, need not be told, and gets the lease `ttl`.
local function grant_next(me, ttl)
	while not holder and not foreign do
		local waiter = call('ZRANGE', queue_key, '0', '0')[1]
		if not waiter then
			return
		end
		local expiry, order, mode, limit, attempt, channel, life,
			payload = string.match(
			call('HGET', info_key, waiter) or '',
			'^W (%d+) (%a) (%a) (%d+) (%d+) (%S+) (%d+) (.*)$')
		if not expiry or tonumber(expiry) <= now_ms then
			dequeue(waiter)
		else
			limit = tonumber(limit)
			local permits = 1
			if limit > 0 then
				limit = find_set_limit() or limit
				permits = 1 + more_permits(payload)
			end
			local never = limit > 0 and permits > limit
			if mode == 'x' and not is_free_of_readers(payload)
				or mode == 's'
				and limit > 0 and not never
				and n_shared + n_more + permits > limit then
				return
			end
			dequeue(waiter)
			if waiter == me then
				life = ttl
			end
			local token, heard = '0', 1
			local woken = never or order == 'a' and waiter ~= me
			if not woken and mode == 'x' then
				grant_exclusive(waiter, payload, life,
					me and waiter ~= me)
				token = largest_token
			elseif not woken then
				token = next_token()
				grant_shared(waiter, payload, tonumber(life),
					limit, token)
				if waiter == me then
					my_token = token
				end
			end
			if waiter ~= me then
				-- Without the right to the channel this fails,
				-- and the waiter's next attempt finds out.
				heard = redis.pcall('PUBLISH', channel, waiter
					.. ' ' .. attempt .. ' ' .. token
					.. ' ' .. now_us)
			end
			-- Only woken: it makes another attempt, and others may
			-- be quicker; or it is told that there are not so many
			-- permits.  A client that is gone hears nothing.
			if woken and not never and heard ~= 0 then
				if mode == 'x' then
					return
				end
				n_shared = n_shared + 1
			end
		end
	end
end

-- Grant the lock to the next waiters, and write what the keys are to say.
local function settle()
	grant_next()
	store_token()
	set_expiries()
end
