# SPDX-License-Identifier: Apache-2.0
# One set of objects, two libraries.
get_property(DLOCK_BACKEND_TARGETS GLOBAL PROPERTY DLOCK_BACKEND_TARGETS)
get_property(copies GLOBAL PROPERTY DLOCK_PRIVATE_COPIES)
set_source_files_properties(${copies} PROPERTIES EXTERNAL_OBJECT TRUE
	GENERATED TRUE)

function(dlock_library target alias)
	set_target_properties(${target} PROPERTIES
		OUTPUT_NAME dlock
		EXPORT_NAME ${alias}
		VERSION ${PROJECT_VERSION}
		SOVERSION ${DLOCK_SOVERSION})
	target_include_directories(${target} INTERFACE
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
		$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
	target_link_libraries(${target} PRIVATE
		LibMD::LibMD ${DLOCK_BACKEND_TARGETS})
	# backend.h includes <pthread.h>
	target_link_libraries(${target} PUBLIC Threads::Threads)
	add_library(dlock::${alias} ALIAS ${target})
endfunction()

add_library(dlock SHARED $<TARGET_OBJECTS:dlock_objects> ${copies})
dlock_library(dlock dlock)
target_link_libraries(dlock PRIVATE $<BUILD_INTERFACE:dlock_flags>)
# The library's threads may still be in it when a plug-in is unloaded.
target_link_options(dlock PRIVATE -Wl,-z,nodelete)
# The private copies' symbols are not hidden.
set(map "${PROJECT_SOURCE_DIR}/cmake/dlock.map")
target_link_options(dlock PRIVATE "LINKER:--version-script=${map}")
set_property(TARGET dlock APPEND PROPERTY LINK_DEPENDS "${map}")
# clang leaves the sanitizers' functions to the program.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
	target_link_options(dlock PRIVATE -Wl,-z,defs)
endif()

add_library(dlock_static STATIC $<TARGET_OBJECTS:dlock_objects>
	${copies})
dlock_library(dlock_static static)

# Optimised builds: functions of one file are inlined in another.  The static
# library has plain code alone, as its user may have another compiler.
if(DLOCK_LTO AND CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_OBJCOPY AND
   CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel|None)$")
	target_compile_options(dlock_objects PRIVATE
		-flto=auto -ffat-lto-objects)
	target_link_options(dlock PRIVATE -flto=auto)
	add_custom_command(TARGET dlock_static POST_BUILD
		COMMAND "${CMAKE_OBJCOPY}" --wildcard
			--remove-section=.gnu.lto_*
			--remove-section=.gnu.debuglto_*
			$<TARGET_FILE:dlock_static> VERBATIM)
endif()
