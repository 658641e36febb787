-- SPDX-License-Identifier: Apache-2.0
-- needs: get: lock_value
-- needs: common: call sub holders_key info_key holder n_shared
-- needs: common: end_holder grant_shared settle
--
-- Turn an exclusive claim into a shared one.
--
-- ARGV: "OWNER TOKEN", ttl in ms, label payload; and of a watched claim, the
-- largest token that was used.
-- Answers 1; 0: the claim does not stand.
local me, token = sub(ARGV[1], 1, 32), sub(ARGV[1], 34)
if n_shared > 0 and call('ZSCORE', holders_key, me) then
	return sub(call('HGET', info_key, me) or '', 3, 18) == token and 1 or 0
end
if holder ~= me or sub(lock_value, 36, 51) ~= token then
	return 0
end
end_holder(ARGV[4] or token)
-- A full server takes a ZREM, and after a write takes the rest, too.
call('ZREM', holders_key, me)
grant_shared(me, ARGV[3], tonumber(ARGV[2]), 0, token)
settle()
return 1
