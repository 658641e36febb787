# SPDX-License-Identifier: Apache-2.0

# The version lives in the public header alone.  Sets DLOCK_VERSION and
# DLOCK_SOVERSION.
function(dlock_read_version header)
	file(STRINGS "${header}" lines
		REGEX "^#define DLOCK_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
	foreach(part MAJOR MINOR PATCH)
		if(NOT lines MATCHES "DLOCK_VERSION_${part} ([0-9]+)")
			message(FATAL_ERROR "${header}: no DLOCK_VERSION_${part}")
		endif()
		set(${part} ${CMAKE_MATCH_1})
	endforeach()

	# Before 1.0 every minor version may break what came before it.
	if(MAJOR EQUAL 0)
		set(soversion 0.${MINOR})
	else()
		set(soversion ${MAJOR})
	endif()
	set(DLOCK_VERSION ${MAJOR}.${MINOR}.${PATCH} PARENT_SCOPE)
	set(DLOCK_SOVERSION ${soversion} PARENT_SCOPE)

	# A new version in the header is a new configure.
	set_property(DIRECTORY APPEND PROPERTY
		CMAKE_CONFIGURE_DEPENDS "${header}")
endfunction()
