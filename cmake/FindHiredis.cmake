# SPDX-License-Identifier: Apache-2.0
# Find hiredis, 0.14 or newer, included as <hiredis/hiredis.h>.  Makes
# Hiredis::Hiredis.  Installed beside dlock-config.cmake, because who links
# dlock::static needs it too.
#
# Debian's 0.14 has a .pc file; 1.x a CMake package as well.  Only the library
# and the directory above its headers are taken from either.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
	pkg_check_modules(PC_HIREDIS QUIET hiredis)
endif()
find_package(hiredis CONFIG QUIET)
if(TARGET hiredis::hiredis)
	get_target_property(Hiredis_HINT hiredis::hiredis
		INTERFACE_INCLUDE_DIRECTORIES)
	if(NOT Hiredis_HINT)
		set(Hiredis_HINT)
	endif()
	foreach(dir IN LISTS Hiredis_HINT)
		list(APPEND Hiredis_LIBHINT "${dir}/../lib" "${dir}/../lib64")
	endforeach()
endif()
find_path(Hiredis_INCLUDE_DIR hiredis/hiredis.h
	HINTS ${PC_HIREDIS_INCLUDEDIR} ${Hiredis_HINT})
find_library(Hiredis_LIBRARY hiredis
	HINTS ${PC_HIREDIS_LIBRARY_DIRS} ${Hiredis_LIBHINT})
mark_as_advanced(Hiredis_INCLUDE_DIR Hiredis_LIBRARY)

if(Hiredis_INCLUDE_DIR)
	file(STRINGS "${Hiredis_INCLUDE_DIR}/hiredis/hiredis.h" lines
		REGEX "#define HIREDIS_(MAJOR|MINOR|PATCH) [0-9]+")
	string(REGEX REPLACE "[^;0-9]" "" lines "${lines}")
	list(JOIN lines "." Hiredis_VERSION)
endif()

# dlock-config.cmake says it, too.
set(Hiredis_ADVICE "on Debian: apt-get install libhiredis-dev")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hiredis
	REQUIRED_VARS Hiredis_LIBRARY Hiredis_INCLUDE_DIR
	VERSION_VAR Hiredis_VERSION
	REASON_FAILURE_MESSAGE "${Hiredis_ADVICE}")

if(Hiredis_FOUND AND NOT TARGET Hiredis::Hiredis)
	add_library(Hiredis::Hiredis UNKNOWN IMPORTED)
	set_target_properties(Hiredis::Hiredis PROPERTIES
		IMPORTED_LOCATION "${Hiredis_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${Hiredis_INCLUDE_DIR}")
endif()
