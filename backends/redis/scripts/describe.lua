-- SPDX-License-Identifier: Apache-2.0
-- Answers "LIMIT PAYLOAD" of a lock with a holder or waiter, else nil.  See
-- common.lua for the records.
local lock_key = KEYS[1]
local lock_value = redis.call('GET', lock_key)
local payload = lock_value
	and string.match(lock_value, '^[0-4] %x+ %d+ (.*)$')
if payload then
	return '0 ' .. payload
end
local info_key = lock_key .. ':i'
for _, key in ipairs({lock_key .. ':s', lock_key .. ':q'}) do
	local last = redis.call('ZRANGE', key, -1, -1)[1]
	local record = last and redis.call('HGET', info_key, last) or ''
	payload = string.match(record, '^H %d+ (.*)$') or string.match(record,
		'^W %d+ %a %a %d+ %d+ %S+ %d+ (.*)$')
	if payload then
		return redis.call('HGET', info_key, '.') or '0 ' .. payload
	end
end
return false
