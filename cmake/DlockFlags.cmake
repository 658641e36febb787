# SPDX-License-Identifier: Apache-2.0
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

if(PROJECT_IS_TOP_LEVEL)
	string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE
		"${CMAKE_C_FLAGS_RELEASE}")
endif()

check_c_compiler_flag(-fstack-clash-protection DLOCK_HAS_STACK_CLASH)
check_c_compiler_flag(-fcf-protection DLOCK_HAS_CF_PROTECTION)

# What every target of ours is compiled with; never seen by a consumer.
add_library(dlock_flags INTERFACE)
target_compile_definitions(dlock_flags INTERFACE _GNU_SOURCE)
target_compile_options(dlock_flags INTERFACE
	-Wall -Wextra -Wpedantic -Wconversion
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
	$<$<BOOL:${DLOCK_WERROR}>:-Werror>
	# Quoted includes only: core/base/error.h must not hide <error.h>.
	"SHELL:-iquote ${PROJECT_SOURCE_DIR}"
	"SHELL:-iquote ${PROJECT_SOURCE_DIR}/core")

if(DLOCK_HARDEN)
	target_compile_options(dlock_flags INTERFACE
		$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:
			-U_FORTIFY_SOURCE
			-D_FORTIFY_SOURCE=2
			-fstack-protector-strong
			$<$<BOOL:${DLOCK_HAS_STACK_CLASH}>:-fstack-clash-protection>
			$<$<BOOL:${DLOCK_HAS_CF_PROTECTION}>:-fcf-protection>>)
	target_link_options(dlock_flags INTERFACE
		-Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# The settings of one of our targets, whatever its kind.
function(dlock_target target)
	set_target_properties(${target} PROPERTIES
		C_STANDARD 11
		C_STANDARD_REQUIRED ON
		C_EXTENSIONS OFF
		C_VISIBILITY_PRESET hidden
		CXX_STANDARD 17
		CXX_STANDARD_REQUIRED ON
		CXX_EXTENSIONS OFF
		CXX_VISIBILITY_PRESET hidden
		VISIBILITY_INLINES_HIDDEN ON
		POSITION_INDEPENDENT_CODE ON)
	target_link_libraries(${target} PRIVATE
		$<BUILD_INTERFACE:dlock_flags>)
endfunction()

# The C files of a directory, looked at again by every build.
function(dlock_sources out)
	list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
	file(GLOB found CONFIGURE_DEPENDS ${ARGN})
	set(${out} ${found} PARENT_SCOPE)
endfunction()
