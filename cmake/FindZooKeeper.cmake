# SPDX-License-Identifier: Apache-2.0
# Find ZooKeeper's C client, the one without threads, as a static library.
# Makes ZooKeeper::Client, which dlock_private_copy() takes, and ZooKeeper::mt,
# the client with threads, which tests and benchmarks compare with, if that is
# here as well.  There is neither a .pc file nor a CMake package of them.
find_path(ZooKeeper_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZooKeeper_CLIENT_LIBRARY NAMES libzookeeper_st.a)
# Debian's development packages of both exclude each other.
find_library(ZooKeeper_MT_LIBRARY NAMES zookeeper_mt libzookeeper_mt.so.2)
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_CLIENT_LIBRARY ZooKeeper_MT_LIBRARY)

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

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
	REQUIRED_VARS ZooKeeper_CLIENT_LIBRARY ZooKeeper_INCLUDE_DIR
	VERSION_VAR ZooKeeper_VERSION
	REASON_FAILURE_MESSAGE "on Debian: apt-get install libzookeeper-st-dev")

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::Client)
	add_library(ZooKeeper::Client STATIC IMPORTED)
	set_target_properties(ZooKeeper::Client PROPERTIES
		IMPORTED_LOCATION "${ZooKeeper_CLIENT_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}")
endif()
if(ZooKeeper_FOUND AND ZooKeeper_MT_LIBRARY AND NOT TARGET ZooKeeper::mt)
	find_package(Threads QUIET)
	add_library(ZooKeeper::mt UNKNOWN IMPORTED)
	set_target_properties(ZooKeeper::mt PROPERTIES
		IMPORTED_LOCATION "${ZooKeeper_MT_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
		INTERFACE_COMPILE_DEFINITIONS THREADED
		INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
