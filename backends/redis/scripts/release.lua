-- SPDX-License-Identifier: Apache-2.0
-- needs: release_fast: lock_value
-- needs: common: call sub holders_key info_key holder n_shared
-- needs: common: remove_shared dequeue end_holder settle
--
-- Release a claim in whatever state it is, and grant the lock to the next.
-- Continues release_fast.lua and release_next.lua.
--
-- A late attempt, which arrived after the server had lost everything, may have
-- made another claim of this owner.  That claim is released, too, but it was
-- not granted: the tokens differ.
--
-- ARGV: as in release_fast.lua; and of a watched claim, the largest token that
-- was used.
local me, token = sub(ARGV[1], 3, 34), sub(ARGV[1], 36)
local had = 0

if holder == me then
	end_holder(ARGV[4] or sub(lock_value, 36, 51))
	had = (token == '' or sub(lock_value, 36, 51) == token) and 1 or 0
elseif (not holder or n_shared > 0) and call('ZREM', holders_key, me) == 1 then
	local known = sub(call('HGET', info_key, me) or '', 3, 18)
	had = (token == '' or known == token) and 1 or 0
	remove_shared(me)
else
	dequeue(me)
end
settle()
return had
