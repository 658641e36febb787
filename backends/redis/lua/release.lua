-- SPDX-License-Identifier: Apache-2.0
-- Give up a claim in whatever state it is, and pass the lock on.
-- Continues release_fast.lua.
-- What a late look made after all was lost is not what was granted.
local me, token = sub(ARGV[1], 3, 34), sub(ARGV[1], 36)
local had = 0

if X == me then
	X = nil
	had = (token == '' or sub(v, 36, 51) == token) and 1 or 0
elseif not mutex and call('ZREM', S, me) == 1 then
	n = n - 1
	local known = sub(call('HGET', I, me) or '', 3, 18)
	had = (token == '' or known == token) and 1 or 0
	call('HDEL', I, me)
elseif call('ZREM', Q, me) == 1 then
	call('HDEL', I, me)
end
hand_on()
if not X then
	rest()
end
set_time()
return had
