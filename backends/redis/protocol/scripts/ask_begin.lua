-- SPDX-License-Identifier: Apache-2.0
-- The next parts answer the attempt; see ask_end.lua.
local function ask()
