-- SPDX-License-Identifier: Apache-2.0
-- needs: common: call holders_key info_key n_shared tell_watcher
--
-- Ask the holders to give the lock up: tell the channel of the exclusive holder,
-- or of each holder of a permit, if the holder watches.  Answers 0.
tell_watcher()
local owners = n_shared > 0 and call('ZRANGE', holders_key, 0, -1) or {}
for _, owner in ipairs(owners) do
	local channel = call('HGET', info_key, '!' .. owner)
	if channel then
		redis.pcall('PUBLISH', channel, owner .. ' 0 0')
	end
end
return 0
