# SPDX-License-Identifier: Apache-2.0
# Find libmd, for SHA-256.  Makes LibMD::LibMD.  Installed beside
# dlock-config.cmake, because who links dlock::static needs it too.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
	pkg_check_modules(PC_LIBMD QUIET libmd)
endif()
find_path(LibMD_INCLUDE_DIR sha2.h HINTS ${PC_LIBMD_INCLUDE_DIRS})
find_library(LibMD_LIBRARY md HINTS ${PC_LIBMD_LIBRARY_DIRS})
mark_as_advanced(LibMD_INCLUDE_DIR LibMD_LIBRARY)

# dlock-config.cmake says it, too.
set(LibMD_ADVICE "on Debian: apt-get install libmd-dev")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibMD
	REQUIRED_VARS LibMD_LIBRARY LibMD_INCLUDE_DIR
	VERSION_VAR PC_LIBMD_VERSION
	REASON_FAILURE_MESSAGE "${LibMD_ADVICE}")

if(LibMD_FOUND AND NOT TARGET LibMD::LibMD)
	add_library(LibMD::LibMD UNKNOWN IMPORTED)
	set_target_properties(LibMD::LibMD PROPERTIES
		IMPORTED_LOCATION "${LibMD_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${LibMD_INCLUDE_DIR}")
endif()
