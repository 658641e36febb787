-- SPDX-License-Identifier: Apache-2.0
-- needs: common: call queue_key info_key n_shared set_limit settle
--
-- Set the limit of a semaphore in use, and grant permits to the next waiters.
-- Holders beyond the limit keep their permits.
--
-- ARGV: the limit.  Answers 1; 0: there is no holder and no waiter.
local label = string.match(call('HGET', info_key, '.') or '', '^%d+=?( .*)$')
if not label or n_shared == 0 and call('EXISTS', queue_key) == 0 then
	return 0
end
set_limit = tonumber(ARGV[1])
call('HSET', info_key, '.', ARGV[1] .. '=' .. label)
settle()
return 1
