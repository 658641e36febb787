-- SPDX-License-Identifier: Apache-2.0
-- Take the lock from whoever holds it, and pass it on.
if foreign then
	call('DEL', B)
	foreign = false
end
for _, w in ipairs(call('ZRANGE', S, 0, -1)) do
	call('HDEL', I, w)
end
call('DEL', S)
X, n = nil, 0
hand_on()
if not X then
	rest()
end
return 1
