# SPDX-License-Identifier: Apache-2.0
# dlock_embed_texts(TARGET HEADER NAME=FILE[+FILE...] ...)
#
# Make HEADER, and TARGET that makes it: for every NAME the files one after the
# other, without lines that are only a comment of Lua's, as
#     static const char NAME_text[];  and  #define NAME_sha1 "..."
# This file is the script as well that does it when the build runs.
if(NOT CMAKE_SCRIPT_MODE_FILE)
	set(DLOCK_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
	function(dlock_embed_texts target header)
		set(files)
		foreach(item IN LISTS ARGN)
			string(REGEX REPLACE "^[^=]*=" "" parts "${item}")
			string(REPLACE "+" ";" parts "${parts}")
			foreach(part IN LISTS parts)
				list(APPEND files
					"${CMAKE_CURRENT_SOURCE_DIR}/${part}")
			endforeach()
		endforeach()
		list(REMOVE_DUPLICATES files)
		list(JOIN ARGN "," items)
		add_custom_command(OUTPUT "${header}"
			COMMAND "${CMAKE_COMMAND}" "-DHEADER=${header}"
				"-DFROM=${CMAKE_CURRENT_SOURCE_DIR}"
				"-DTEXTS=${items}" -P "${DLOCK_EMBED_SCRIPT}"
			DEPENDS ${files} "${DLOCK_EMBED_SCRIPT}" VERBATIM)
		add_custom_target(${target} DEPENDS "${header}")
	endfunction()
	return()
endif()

set(out "/* Made by cmake/EmbedText.cmake. */\n")
string(REPLACE "," ";" TEXTS "${TEXTS}")
foreach(item IN LISTS TEXTS)
	string(REGEX MATCH "^([^=]*)=(.*)$" ignored "${item}")
	set(name "${CMAKE_MATCH_1}")
	string(REPLACE "+" ";" parts "${CMAKE_MATCH_2}")
	set(text "")
	foreach(part IN LISTS parts)
		file(READ "${FROM}/${part}" one)
		string(APPEND text "${one}")
	endforeach()
	string(REGEX REPLACE "(^|\n)[ \t]*--[^\n]*" "\\1" text "${text}")
	string(REGEX REPLACE "\n[ \t\n]*" "\n" text "${text}")
	string(SHA1 sha1 "${text}")
	string(HEX "${text}" hex)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
	string(APPEND out "static const char ${name}_text[] = {\n${bytes}0\n};\n"
		"#define ${name}_sha1 \"${sha1}\"\n")
endforeach()
file(WRITE "${HEADER}" "${out}")
