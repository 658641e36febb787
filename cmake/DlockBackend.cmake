# SPDX-License-Identifier: Apache-2.0
include(DlockPrivateCopy)
include(FeatureSummary)

set_property(GLOBAL PROPERTY DLOCK_BACKENDS)

# dlock_backend(NAME TEXT [OPTION] [TARGETS...] [PRIVATE_COPY target]
#               [EXCEPT regex])
#
# Add the store whose sources are in the current directory and in folders of
# it.  OPTION is its DLOCK_WITH_ variable; without one it is always built.
# TARGETS are what it links; one that does not exist, because a find_package()
# before found nothing, counts as missing.  PRIVATE_COPY is one of which dlock
# has a copy: see dlock_private_copy().  EXCEPT names sources that are not
# built.  dlock_config.h then says DLOCK_HAVE_<NAME>.
function(dlock_backend name text)
	cmake_parse_arguments(arg "" "OPTION;PRIVATE_COPY;EXCEPT" TARGETS
		${ARGN})
	dlock_sources(sources *.c */*.c)
	if(arg_EXCEPT)
		list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
	endif()
	string(TOUPPER ${name} NAME)

	set(wish ON)
	if(arg_OPTION)
		set(wish ${${arg_OPTION}})
	endif()
	set(missing)
	if(NOT sources)
		set(missing "sources in this version of dlock")
	endif()
	foreach(target IN LISTS arg_TARGETS arg_PRIVATE_COPY)
		if(NOT TARGET ${target})
			list(APPEND missing ${target})
		endif()
	endforeach()
	list(JOIN missing ", " missing)

	if(missing AND arg_OPTION AND wish STREQUAL ON)
		message(FATAL_ERROR
			"${arg_OPTION}=ON, but the ${name} backend lacks: "
			"${missing}.  Set ${arg_OPTION} to AUTO or OFF to "
			"build without it.")
	endif()
	set(have 0)
	if(NOT missing AND NOT wish STREQUAL OFF)
		set(have 1)
		target_sources(dlock_objects PRIVATE ${sources})
		target_link_libraries(dlock_objects PRIVATE ${arg_TARGETS})
		if(arg_PRIVATE_COPY)
			get_target_property(headers ${arg_PRIVATE_COPY}
				INTERFACE_INCLUDE_DIRECTORIES)
			target_include_directories(dlock_objects SYSTEM PRIVATE
				"${headers}")
		endif()
		set_property(GLOBAL APPEND PROPERTY
			DLOCK_BACKEND_TARGETS ${arg_TARGETS})
	elseif(missing)
		string(APPEND text " - lacks ${missing}")
	endif()

	set_property(GLOBAL APPEND_STRING PROPERTY DLOCK_CONFIG
		"#define DLOCK_HAVE_${NAME} ${have}\n")
	add_feature_info(${name} ${have} "${text}")
endfunction()

# Write dlock_config.h: DLOCK_HAVE_ of each backend and of TLS, 0 or 1.
function(dlock_write_config)
	get_property(DLOCK_CONFIG GLOBAL PROPERTY DLOCK_CONFIG)
	configure_file("${PROJECT_SOURCE_DIR}/cmake/dlock_config.h.in"
		"${PROJECT_BINARY_DIR}/generated/dlock_config.h" @ONLY)
endfunction()

function(dlock_summary)
	message(STATUS "dlock ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}")
	feature_summary(WHAT ENABLED_FEATURES QUIET_ON_EMPTY
		DESCRIPTION "Stores built:")
	feature_summary(WHAT DISABLED_FEATURES QUIET_ON_EMPTY
		DESCRIPTION "Stores known, not built:")
	get_property(text GLOBAL PROPERTY DLOCK_TLS_TEXT)
	message(STATUS "${text}: ${DLOCK_HAVE_TLS}")
	get_property(text GLOBAL PROPERTY DLOCK_FLEETS_TEXT)
	message(STATUS "${text}: ${DLOCK_HAVE_FLEETS}")
	get_property(text GLOBAL PROPERTY DLOCK_TESTS_TEXT)
	if(NOT DLOCK_TESTS)
		set(text "none: DLOCK_TESTS is OFF")
		if(NOT BUILD_TESTING)
			set(text "none: BUILD_TESTING is OFF")
		endif()
	endif()
	message(STATUS "Tests built: ${text}")
endfunction()
