-- SPDX-License-Identifier: Apache-2.0
-- An exclusive attempt on a lock without holder and waiter, within a tenth of a
-- second that tokens have already come to.  In any other case the parts that
-- follow answer.  See attempt.lua for the arguments, and common.lua for the
-- records.
local lock_key = KEYS[1]
local lock_value = redis.call('GET', lock_key)
if lock_value and #lock_value == 16 and string.find(lock_value, '^%d+$')
	or not lock_value and redis.call('EXISTS', lock_key .. ':q',
		lock_key .. ':s') == 0
then
	local now = redis.call('TIME')
	local token = now[2]
	if #token < 6 then
		token = string.sub('00000' .. token, -6)
	end
	token = now[1] .. token
	if redis.pcall('GET', KEYS[2]) == string.sub(token, 1, 11)
		and (not lock_value or lock_value < token) then
		redis.call('SET', lock_key, '0 ' .. ARGV[1] .. ' ' .. token
			.. ' ' .. ARGV[3], 'PX', ARGV[2])
		return token
	end
end
