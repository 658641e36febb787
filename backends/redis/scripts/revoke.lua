-- SPDX-License-Identifier: Apache-2.0
-- needs: common: tell_watcher
--
-- Somebody asks the exclusive holder to give the lock up: tell its channel, if
-- it watches.  Answers 0.
tell_watcher()
return 0
