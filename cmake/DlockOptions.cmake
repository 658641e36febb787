# SPDX-License-Identifier: Apache-2.0
# Every option, on one page.
include(CMakeDependentOption)

function(dlock_tristate name text)
	set(${name} AUTO CACHE STRING "${text}: AUTO, ON or OFF")
	set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
	string(TOUPPER "${${name}}" value)
	if(NOT value MATCHES "^(AUTO|ON|OFF)$")
		message(FATAL_ERROR
			"${name}=${${name}}: must be AUTO, ON or OFF")
	endif()
	set(${name} ${value} PARENT_SCOPE)
endfunction()

dlock_tristate(DLOCK_WITH_ZK "ZooKeeper as a store (zk:)")
dlock_tristate(DLOCK_WITH_REDIS "Redis and Valkey as a store (redis:)")
dlock_tristate(DLOCK_WITH_MEMCACHED "memcached as a store (memcached:)")
dlock_tristate(DLOCK_TLS "TLS to the stores' servers, by OpenSSL")
dlock_tristate(DLOCK_FLEETS "Fleets of memcached servers, by libmemcached")

option(DLOCK_COMMAND "Build the dlock command" ${PROJECT_IS_TOP_LEVEL})
if(PROJECT_IS_TOP_LEVEL)
	option(BUILD_TESTING "Build what tests this, as any project's" ON)
endif()
# OFF, too, if BUILD_TESTING is.
cmake_dependent_option(DLOCK_TESTS "Build tests and benchmark"
	${PROJECT_IS_TOP_LEVEL} "NOT DEFINED BUILD_TESTING OR BUILD_TESTING" OFF)
option(DLOCK_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(DLOCK_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
option(DLOCK_WERROR "Make warnings errors" ${PROJECT_IS_TOP_LEVEL})
option(DLOCK_HARDEN "Harden optimised builds" ${PROJECT_IS_TOP_LEVEL})
option(DLOCK_LTO "Optimise the shared library as a whole (gcc)"
	${PROJECT_IS_TOP_LEVEL})
set(DLOCK_ZSH_DIR share/zsh/site-functions CACHE STRING
	"Where zsh looks for completions; Debian: share/zsh/vendor-completions")
# They cannot run under TSan.
dlock_tristate(DLOCK_CRITERION "The tests that need Criterion")
cmake_dependent_option(DLOCK_FUZZ "Build the fuzzers (clang's libFuzzer)"
	OFF DLOCK_TESTS OFF)

# A parent project decides for itself what it builds.
get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT multi_config)
	set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
