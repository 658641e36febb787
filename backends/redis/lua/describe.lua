-- SPDX-License-Identifier: Apache-2.0
-- "limit tail" of a lock that somebody holds or waits for, else nil.
local v = redis.call('GET', KEYS[1])
local tail = v and string.match(v, '^[01] %x+ %d+ (.*)$')
if tail then
	return '0 ' .. tail
end
if redis.call('EXISTS', KEYS[1] .. ':s', KEYS[1] .. ':q') == 0 then
	return false
end
return redis.call('HGET', KEYS[1] .. ':i', '.')
