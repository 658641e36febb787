# SPDX-License-Identifier: Apache-2.0
# Find ZooKeeper's C client, the one with threads.  Makes ZooKeeper::ZooKeeper.
# Installed beside dlock-config.cmake, because who links dlock::static needs it
# too.  There is neither a .pc file nor a CMake package of it.
find_path(ZooKeeper_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZooKeeper_LIBRARY zookeeper_mt)
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)

if(ZooKeeper_INCLUDE_DIR)
	set(ZooKeeper_VERSION)
	set(header "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
	if(EXISTS "${header}")
		file(STRINGS "${header}" line REGEX "define ZOO_VERSION")
		string(REGEX MATCH "[0-9.]+" ZooKeeper_VERSION "${line}")
		unset(line)
	endif()
	unset(header)
endif()

# dlock-config.cmake says it, too.
set(ZooKeeper_ADVICE "on Debian: apt-get install libzookeeper-mt-dev")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
	REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR
	VERSION_VAR ZooKeeper_VERSION
	REASON_FAILURE_MESSAGE "${ZooKeeper_ADVICE}")

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::ZooKeeper)
	find_package(Threads QUIET)
	add_library(ZooKeeper::ZooKeeper UNKNOWN IMPORTED)
	set_target_properties(ZooKeeper::ZooKeeper PROPERTIES
		IMPORTED_LOCATION "${ZooKeeper_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
		INTERFACE_COMPILE_DEFINITIONS THREADED
		INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
