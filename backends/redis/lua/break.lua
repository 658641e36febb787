-- SPDX-License-Identifier: Apache-2.0
-- Take the lock from those who hold it, and pass it on.  Asked for their tokens
-- first, and then to break up to the largest: a request that comes twice must
-- not hit who holds it since the first.
--
-- ARGV: nothing, or that token.  Returns the token, 16 digits, or 1.
local last = ARGV[1]
local most = X and floor or NONE

for _, w in ipairs(call('ZRANGE', S, 0, -1)) do
	local token = string.match(call('HGET', I, w) or '', '^H (%d+)') or NONE
	if last and token <= last then
		call('ZREM', S, w)
		call('HDEL', I, w)
		n = n - 1
	elseif token > most then
		most = token
	end
end
if not last then
	return most
end
if foreign then
	call('DEL', B)
	foreign = false
end
if X and floor <= last then
	X = nil
end
hand_on()
if not X then
	rest()
end
set_time()
return 1
