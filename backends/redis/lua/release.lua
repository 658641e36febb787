-- SPDX-License-Identifier: Apache-2.0
-- Give up a claim in whatever state it is, and pass the lock on.
-- Continues release_fast.lua.
local me = sub(ARGV[1], 3, 34)
local had = 0

if X == me then
	X, had = nil, 1
elseif not mutex and call('ZREM', S, me) == 1 then
	n, had = n - 1, 1
	call('HDEL', I, me)
elseif call('ZREM', Q, me) == 1 then
	call('HDEL', I, me)
end
hand_on()
if not X then
	rest()
end
return had
