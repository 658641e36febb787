# SPDX-License-Identifier: Apache-2.0
# dlock_private_copy(NAME TARGET [OVERRIDE function...])
#
# Put a copy of a static library into dlock, under names of its own, so that a
# program may use the same library, or another one that exports the same
# symbols.  <build>/generated/<NAME>_names.h has them as macros: include it
# before the library's header.  Each function of OVERRIDE that the library
# calls becomes dlki_<NAME>_<function>, which is to be written.  The copy's code
# is in the section dlki_<NAME>_code.  The result is in DLOCK_PRIVATE_COPIES.
function(dlock_private_copy name target)
	cmake_parse_arguments(arg "" "" OVERRIDE ${ARGN})
	get_target_property(archive ${target} IMPORTED_LOCATION)
	set(dir "${PROJECT_BINARY_DIR}/generated")
	set(prefix dlki_${name}_)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
		"${archive}")
	execute_process(COMMAND "${CMAKE_NM}" -g --defined-only "${archive}"
		OUTPUT_VARIABLE symbols ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
	string(REGEX MATCHALL "[0-9a-f]+ [A-Z] [A-Za-z0-9_]+" symbols
		"${symbols}")
	set(map)
	set(macros "/* Made by cmake/DlockPrivateCopy.cmake. */\n")
	foreach(line IN LISTS symbols)
		string(REGEX REPLACE "^.* " "" symbol "${line}")
		string(APPEND map "${symbol} ${prefix}${symbol}\n")
		string(APPEND macros "#define ${symbol} ${prefix}${symbol}\n")
	endforeach()
	foreach(symbol IN LISTS arg_OVERRIDE)
		string(APPEND map "${symbol} ${prefix}${symbol}\n")
	endforeach()
	file(CONFIGURE OUTPUT "${dir}/${name}.symbols" CONTENT "${map}" @ONLY)
	file(CONFIGURE OUTPUT "${dir}/${name}_names.h" CONTENT "${macros}" @ONLY)
	set(object "${dir}/${name}.o")
	execute_process(COMMAND "${CMAKE_LINKER}" -r -o "${object}.new"
		--whole-archive "${archive}" COMMAND_ERROR_IS_FATAL ANY)
	execute_process(COMMAND "${CMAKE_OBJCOPY}" --strip-debug
		"--redefine-syms=${dir}/${name}.symbols"
		--rename-section .text=${prefix}code "${object}.new"
		COMMAND_ERROR_IS_FATAL ANY)
	# Else each run of CMake has everything linked again.
	file(COPY_FILE "${object}.new" "${object}" ONLY_IF_DIFFERENT)
	file(REMOVE "${object}.new")
	set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE
		GENERATED TRUE)
	set_property(GLOBAL APPEND PROPERTY DLOCK_PRIVATE_COPIES "${object}")
endfunction()
