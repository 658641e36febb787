-- SPDX-License-Identifier: Apache-2.0
-- Turn an exclusive claim into a shared one.
-- ARGV: "owner token", ttl in ms, tail.  Returns 1, or 0: it does not stand.
local me, token = sub(ARGV[1], 1, 32), sub(ARGV[1], 34)
if n > 0 and call('ZSCORE', S, me) then
	return sub(call('HGET', I, me) or '', 3, 18) == token and 1 or 0
end
if X ~= me or floor ~= token then
	return 0
end
X = nil
share(me, ARGV[3], tonumber(ARGV[2]), 0, token)
hand_on()
rest()
set_time()
return 1
