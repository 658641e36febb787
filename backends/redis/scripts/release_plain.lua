-- SPDX-License-Identifier: Apache-2.0
-- needs: get: lock_value
-- needs: common: call sub holder end_holder dequeue settle
--
-- Release the lock and the plain key, each if the claim still has it, and wake
-- the next waiter.  After the DEL, a full server takes the rest, too.
--
-- KEYS[3]: the plain key.  ARGV and the answer: as in release.lua.
local me, token = sub(ARGV[1], 3, 34), sub(ARGV[1], 36)
local plain_value = redis.pcall('GET', KEYS[3])
local had = 0

if type(plain_value) == 'string' and sub(plain_value, 3, 34) == me then
	had = (token == '' or sub(plain_value, 36, 51) == token) and 1 or 0
	call('DEL', KEYS[3])
end
if holder == me then
	local known = sub(lock_value, 36, 51)
	had = (token == '' or known == token) and had or 0
	end_holder(known)
else
	had = 0
	dequeue(me)
end
settle()
return had
