# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dlock")

# What who links the static library needs as well.
get_property(backend_targets GLOBAL PROPERTY DLOCK_BACKEND_TARGETS)
set(STATIC_PACKAGES LibMD)
set(PC_PRIVATE libmd)
if("Hiredis::Hiredis" IN_LIST backend_targets)
	list(APPEND STATIC_PACKAGES Hiredis)
	list(APPEND PC_PRIVATE hiredis)
endif()
set(PC_LIBS_PRIVATE)
if("ZooKeeper::ZooKeeper" IN_LIST backend_targets)
	list(APPEND STATIC_PACKAGES ZooKeeper)
	string(APPEND PC_LIBS_PRIVATE " -lzookeeper_mt")
endif()
list(JOIN PC_PRIVATE ", " PC_PRIVATE)
set(modules)
foreach(package IN LISTS STATIC_PACKAGES)
	list(APPEND modules "${PROJECT_SOURCE_DIR}/cmake/Find${package}.cmake")
endforeach()
list(JOIN STATIC_PACKAGES " " STATIC_PACKAGES)

install(TARGETS dlock EXPORT dlock-shared)
install(TARGETS dlock_static EXPORT dlock-static)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/dlock"
	DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN *.h)

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
	install(TARGETS dlock_command)
endif()
foreach(section 1 3)
	file(GLOB pages CONFIGURE_DEPENDS
		"${PROJECT_SOURCE_DIR}/docs/man/*.${section}")
	install(FILES ${pages}
		DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()
file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md"
	"${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
	"${PROJECT_SOURCE_DIR}/LICENSE")
install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_DOCDIR}")
