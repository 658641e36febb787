# SPDX-License-Identifier: Apache-2.0
# The headers of libmemcached, which says where a fleet of memcached servers
# keeps a name, and is loaded when it is needed.  DLOCK_HAVE_FLEETS says whether
# it is used.
set(DLOCK_HAVE_FLEETS OFF)
set(have 0)
set(text "fleets of memcached servers")
if(NOT DLOCK_FLEETS STREQUAL OFF AND NOT DLOCK_WITH_MEMCACHED STREQUAL OFF)
	find_package(Libmemcached 1.0.16 QUIET)
	set(advice "on Debian: apt-get install libmemcached-dev")
	if(Libmemcached_FOUND)
		set(DLOCK_HAVE_FLEETS ON)
		set(have 1)
	elseif(DLOCK_FLEETS STREQUAL ON)
		message(FATAL_ERROR "DLOCK_FLEETS=ON, but libmemcached was not "
			"found (${advice}).  Set DLOCK_FLEETS to AUTO or OFF "
			"to build without fleets.")
	else()
		string(APPEND text " - lacks libmemcached (${advice})")
	endif()
endif()
set_property(GLOBAL PROPERTY DLOCK_FLEETS_TEXT "${text}")
set_property(GLOBAL APPEND_STRING PROPERTY DLOCK_CONFIG
	"#define DLOCK_HAVE_FLEETS ${have}\n")
