#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pure.sh OBJECT... - a protocol's objects call only functions of this list, and
# each other: no socket, clock, thread, file or chance.
set -eu
export LC_ALL=C

allowed='
__assert_fail __stack_chk_fail __cxa_finalize _GLOBAL_OFFSET_TABLE_
explicit_bzero memccpy memchr memcmp memcpy memmove memset
qsort strchr strchrnul strcmp strcspn strlen strncmp strrchr strspn strstr strtol strtoll strtoul strtoull
snprintf vsnprintf
calloc free malloc realloc
redisReaderCreateWithFunctions redisReaderFeed redisReaderFree redisReaderGetReply
dlk_fail dlk_param_given dlk_param_int dlk_param_text dlk_utf8_clip
dlki_agree dlki_again dlki_answered dlki_answered_late dlki_busy dlki_failed dlki_front
dlki_demoted dlki_digits dlki_digits_read dlki_front_op dlki_granted dlki_has_output dlki_hold dlki_identity
dlki_in_the_way dlki_is_at_home dlki_is_up dlki_link_open dlki_look_again dlki_nomem dlki_other_limit dlki_peer dlki_peer_fail dlki_pop dlki_pushed
dlki_refused dlki_resume dlki_row_lock dlki_row_participant dlki_send
dlki_senseless dlki_up
dlki_wake dlki_want dlki_wanted dlki_warn dlki_watched
'

[ $# -ge 10 ] || {
	echo "only $# objects: the check itself is broken"
	exit 1
}
defined=$(nm --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u)
# _FORTIFY_SOURCE calls memcpy() by the name of __memcpy_chk().
called=$(nm --undefined-only "$@" | awk '$1 == "U" { print $2 }' |
	sed 's/^__\(.*\)_chk$/\1/' | sort -u)
bad=$(printf '%s\n' "$called" | grep -vxF -e "$defined" |
	grep -vxF -e "$(printf '%s\n' $allowed)" || true)
if [ -n "$bad" ]; then
	echo "a protocol may not call:"
	printf '\t%s\n' $bad
	exit 1
fi
echo "$# objects call $(printf '%s\n' "$called" | wc -l) functions, all allowed"
