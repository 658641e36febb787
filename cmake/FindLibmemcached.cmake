# SPDX-License-Identifier: Apache-2.0
# Find libmemcached.  Makes Libmemcached::Libmemcached.  It places the
# names of a fleet, and the benchmark measures itself against it.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
	pkg_check_modules(PC_LIBMEMCACHED QUIET libmemcached)
endif()
find_path(Libmemcached_INCLUDE_DIR libmemcached/memcached.h
	HINTS ${PC_LIBMEMCACHED_INCLUDE_DIRS})
find_library(Libmemcached_LIBRARY memcached
	HINTS ${PC_LIBMEMCACHED_LIBRARY_DIRS})
mark_as_advanced(Libmemcached_INCLUDE_DIR Libmemcached_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libmemcached
	REQUIRED_VARS Libmemcached_LIBRARY Libmemcached_INCLUDE_DIR
	VERSION_VAR PC_LIBMEMCACHED_VERSION
	REASON_FAILURE_MESSAGE "on Debian: apt-get install libmemcached-dev")

if(Libmemcached_FOUND AND NOT TARGET Libmemcached::Libmemcached)
	add_library(Libmemcached::Libmemcached UNKNOWN IMPORTED GLOBAL)
	set_target_properties(Libmemcached::Libmemcached PROPERTIES
		IMPORTED_LOCATION "${Libmemcached_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${Libmemcached_INCLUDE_DIR}")
endif()
