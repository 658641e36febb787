-- SPDX-License-Identifier: Apache-2.0
-- A grant message to a channel with ":c" at the end ends with the server's clock
-- in us, read before the grant: a lease counted from there is no longer than the
-- key's.  The next parts call this table `redis`.
local begun = redis.call('TIME')
local server = redis
local redis = {
	call = server.call,
	pcall = function(...)
		local command, channel, text = ...
		if command == 'PUBLISH' and string.sub(channel, -2) == ':c' then
			return server.pcall(command, channel, text .. ' '
				.. begun[1]
				.. string.sub('00000' .. begun[2], -6))
		end
		return server.pcall(...)
	end,
}
