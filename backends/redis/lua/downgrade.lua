-- SPDX-License-Identifier: Apache-2.0
-- Turn an exclusive claim into a shared one.
-- ARGV: owner, ttl in ms, tail.  Returns 1, or 0: it does not stand.
if n > 0 and call('ZSCORE', S, ARGV[1]) then
	return 1
end
if X ~= ARGV[1] then
	return 0
end
X = nil
share(ARGV[1], ARGV[3], tonumber(ARGV[2]), 0, sub(v, 36, 51))
hand_on()
rest()
return 1
