-- SPDX-License-Identifier: Apache-2.0
-- needs: common: tell_watcher
--
-- Ask the exclusive holder to give the lock up: tell the holder's channel, if
-- the holder watches.  Answers 0.
tell_watcher()
return 0
