-- SPDX-License-Identifier: Apache-2.0
-- needs: get: lock_key lock_value
-- needs: common: call sub queue_key holder foreign largest_token n_shared
-- needs: common: next_token store_token set_expiries end_holder grant_next
-- needs: common: dequeue
--
-- An attempt to take the plain key together with the lock.  Foreign clients
-- take the plain key by SET NX PX.  attempt.lua goes on if the lock is held.
--
-- KEYS[3]: the plain key.  ARGV: as in attempt.lua.  Answers as attempt.lua; or
-- "B <ms>": a foreign client has the plain key, and 0: without an expiry.
local plain_key, this_owner, life = KEYS[3], ARGV[1], ARGV[2]
local plain_value = call('GET', plain_key)
local plain_is_mine = plain_value and sub(plain_value, 3, 34) == this_owner

-- Granted already: a reply was lost.  Without the plain key the grant is void,
-- because a foreign client may have had the plain key since.
if holder == this_owner then
	if plain_is_mine
		and sub(plain_value, 3, 51) == sub(lock_value, 3, 51) then
		call('PEXPIRE', lock_key, life)
		call('PEXPIRE', plain_key, life)
		return sub(lock_value, 36, 51)
	end
	end_holder()
	grant_next()
	store_token()
end
if plain_value and not plain_is_mine then
	set_expiries()
	local left = call('PTTL', plain_key)
	-- More than a lease: the clock was set back, see attempt.lua.
	local lease = tonumber(string.match(plain_value,
		'^0 %x+ %d+ (%d+) ') or left)
	if left > lease then
		left = lease
		call('PEXPIRE', plain_key, lease)
	end
	return 'B ' .. left + 1
end
if not holder and not foreign and n_shared == 0 then
	local is_queued = call('ZSCORE', queue_key, this_owner)
	local others = call('ZCARD', queue_key) - (is_queued and 1 or 0)
	local claim = this_owner .. ' ' .. next_token() .. ' ' .. ARGV[3]
	call('SET', lock_key, (others > 0 and '1 ' or '0 ') .. claim,
		'PX', life)
	if is_queued then
		dequeue(this_owner)
	end
	call('SET', plain_key, '0 ' .. claim, 'PX', life)
	return largest_token
end
