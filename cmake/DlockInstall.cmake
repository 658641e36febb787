# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

# Parts, for who makes packages: library, command, and else development.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dlock")

# What a program that links the static library needs as well, for CMake and for
# pkg-config.  There it is libraries alone: pkg-config reads the .pc files of
# Requires.private even for those who link the shared library, fails where they
# are not installed, and hands on their compiler flags.
get_property(backend_targets GLOBAL PROPERTY DLOCK_BACKEND_TARGETS)
set(STATIC_PACKAGES)
set(modules)
set(PC_LIBS_PRIVATE)
foreach(target IN LISTS backend_targets ITEMS LibMD::LibMD)
	string(REGEX REPLACE "::.*" "" package ${target})
	list(APPEND STATIC_PACKAGES ${package})
	set(module "${PROJECT_SOURCE_DIR}/cmake/Find${package}.cmake")
	if(EXISTS "${module}") # OpenSSL's is part of CMake
		list(APPEND modules "${module}")
	endif()
	get_target_property(file ${target} LOCATION)
	cmake_path(GET file PARENT_PATH dir)
	cmake_path(GET file STEM name)
	if(NOT dir IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
		list(APPEND PC_LIBS_PRIVATE "-L\"${dir}\"")
	endif()
	string(REGEX REPLACE "^lib" "-l" name ${name})
	list(APPEND PC_LIBS_PRIVATE ${name})
endforeach()
list(APPEND PC_LIBS_PRIVATE ${CMAKE_THREAD_LIBS_INIT})
list(JOIN PC_LIBS_PRIVATE " " PC_LIBS_PRIVATE)
list(REMOVE_DUPLICATES STATIC_PACKAGES)
list(JOIN STATIC_PACKAGES " " STATIC_PACKAGES)

install(TARGETS dlock EXPORT dlock-shared
	LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS dlock_static EXPORT dlock-static)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/dlock"
	DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING
	PATTERN *.h PATTERN *.hpp)

# Two exports, so that who links the shared library needs none of what the
# static one is made of.
foreach(kind shared static)
	install(EXPORT dlock-${kind} NAMESPACE dlock::
		FILE dlock-${kind}.cmake DESTINATION "${config_dir}")
endforeach()
configure_package_config_file(
	"${PROJECT_SOURCE_DIR}/cmake/dlock-config.cmake.in"
	"${PROJECT_BINARY_DIR}/generated/dlock-config.cmake"
	INSTALL_DESTINATION "${config_dir}"
	NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
	"${PROJECT_BINARY_DIR}/generated/dlock-config-version.cmake"
	COMPATIBILITY SameMinorVersion)
install(FILES
	"${PROJECT_BINARY_DIR}/generated/dlock-config.cmake"
	"${PROJECT_BINARY_DIR}/generated/dlock-config-version.cmake"
	${modules}
	DESTINATION "${config_dir}")

# Relative to the .pc file where that is possible: the tree can be moved.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
	file(RELATIVE_PATH up "/prefix/${pc_dir}" "/prefix")
	string(REGEX REPLACE "/$" "" up "${up}")
	set(PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(dir LIBDIR INCLUDEDIR)
	set(PC_${dir} "${CMAKE_INSTALL_${dir}}")
	if(NOT IS_ABSOLUTE "${PC_${dir}}")
		set(PC_${dir} "\${prefix}/${PC_${dir}}")
	endif()
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/dlock.pc.in"
	"${PROJECT_BINARY_DIR}/generated/dlock.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/dlock.pc"
	DESTINATION "${pc_dir}")

if(TARGET dlock_command)
	install(TARGETS dlock_command dlock_conform COMPONENT command)
	# `dlock compare --lab` preloads it into its servers.
	install(TARGETS lab_wallshim COMPONENT command
		DESTINATION "${CMAKE_INSTALL_LIBDIR}/dlock")
	set(completion "${PROJECT_SOURCE_DIR}/tools/completion")
	install(FILES "${completion}/dlock.bash" RENAME dlock
		COMPONENT command DESTINATION
		"${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
	install(FILES "${completion}/_dlock" COMPONENT command
		DESTINATION "${DLOCK_ZSH_DIR}")
	install(FILES "${completion}/dlock.fish" COMPONENT command DESTINATION
		"${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()
foreach(section 1 3)
	set(part development)
	if(section EQUAL 1)
		set(part command)
	endif()
	file(GLOB pages CONFIGURE_DEPENDS
		"${PROJECT_SOURCE_DIR}/docs/man/*.${section}")
	install(FILES ${pages} COMPONENT ${part}
		DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()

# A name in the manual for each function: whatever a page's synopsis has.
foreach(page IN LISTS pages)
	set_property(DIRECTORY APPEND PROPERTY
		CMAKE_CONFIGURE_DEPENDS "${page}")
	file(READ "${page}" text)
	string(REGEX REPLACE "^.*\n\\.Sh SYNOPSIS\n" "" text "${text}")
	string(REGEX REPLACE "\n\\.Sh .*$" "" text "${text}")
	string(REGEX MATCHALL "\n\\.Fn [a-z0-9_]+" functions "${text}")
	cmake_path(GET page FILENAME page)
	foreach(function IN LISTS functions)
		string(REGEX REPLACE "^.* " "" function "${function}")
		set(link "${PROJECT_BINARY_DIR}/generated/man/${function}.3")
		file(CONFIGURE OUTPUT "${link}" CONTENT ".so man3/${page}\n")
		install(FILES "${link}"
			DESTINATION "${CMAKE_INSTALL_MANDIR}/man3")
	endforeach()
endforeach()

# As they link to each other.
install(FILES "${PROJECT_SOURCE_DIR}/README.md"
	"${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/SECURITY.md"
	"${PROJECT_SOURCE_DIR}/LICENSE" COMPONENT command
	DESTINATION "${CMAKE_INSTALL_DOCDIR}")
file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
install(FILES ${pages} COMPONENT command
	DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" USE_SOURCE_PERMISSIONS
	COMPONENT development DESTINATION "${CMAKE_INSTALL_DOCDIR}")
