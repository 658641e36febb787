-- SPDX-License-Identifier: Apache-2.0
-- needs: get: lock_key lock_value
-- needs: common: call sub NO_TOKEN holders_key info_key foreign holder
-- needs: common: remove_shared tell_watcher end_holder settle
--
-- Take the lock from the holders, and grant it to the next.  The client first
-- asks for the largest token of the holders, and then breaks up to that token:
-- a command that arrives twice must not hit a holder that came in between.
--
-- KEYS[3]: the plain key, if there is one.
-- ARGV: empty; or the token and the digest answered before.
-- Answers the token, 16 digits, and behind it the digest of the plain key's
-- value, if the plain key exists; or 1.
local last = ARGV[1]
local plain_value = KEYS[3] and call('GET', KEYS[3])
local digest = plain_value and redis.sha1hex(plain_value) or ''
-- A watched claim has tokens ahead of the clock, but the token of the key is the
-- claim's: the next holder's token is larger.
local most = holder and sub(lock_value, 36, 51) or NO_TOKEN

for _, owner in ipairs(call('ZRANGE', holders_key, 0, -1)) do
	local token = string.match(call('HGET', info_key, owner) or '',
		'^H (%d+)') or NO_TOKEN
	if last and token <= last then
		call('ZREM', holders_key, owner)
		remove_shared(owner)
	elseif token > most then
		most = token
	end
end
if not last then
	return most .. digest
end
if digest ~= '' and digest == ARGV[2] then
	call('DEL', KEYS[3])
end
if foreign then
	call('DEL', lock_key)
	foreign = false
end
if holder and sub(lock_value, 36, 51) <= last then
	tell_watcher()
	end_holder()
end
settle()
return 1
