-- SPDX-License-Identifier: Apache-2.0
-- "B <ms>" becomes "B <ms> <clock>", in us, read after the attempt was
-- evaluated: a lease counted from there begins too early, not too late.
end
local answer = ask()
if string.sub(answer, 1, 2) == 'B ' then
	local now = redis.call('TIME')
	answer = answer .. ' ' .. now[1] .. string.sub('00000' .. now[2], -6)
end
return answer
