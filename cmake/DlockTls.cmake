# SPDX-License-Identifier: Apache-2.0
# OpenSSL 3, for TLS.  DLOCK_HAVE_TLS says whether it is used.
set(DLOCK_HAVE_TLS OFF)
set(have 0)
set(text "TLS to the stores' servers")
if(NOT DLOCK_TLS STREQUAL OFF)
	find_package(OpenSSL 3.0 QUIET)
	set(advice "on Debian: apt-get install libssl-dev")
	if(OPENSSL_FOUND)
		set(DLOCK_HAVE_TLS ON)
		set(have 1)
		set(DLOCK_TLS_TARGETS OpenSSL::SSL OpenSSL::Crypto)
		set_property(GLOBAL APPEND PROPERTY DLOCK_BACKEND_TARGETS
			${DLOCK_TLS_TARGETS})
	elseif(DLOCK_TLS STREQUAL ON)
		message(FATAL_ERROR "DLOCK_TLS=ON, but OpenSSL 3 was not found "
			"(${advice}).  Set DLOCK_TLS to AUTO or OFF to build "
			"without TLS.")
	else()
		string(APPEND text " - lacks OpenSSL 3 (${advice})")
	endif()
endif()
set_property(GLOBAL PROPERTY DLOCK_TLS_TEXT "${text}")
set_property(GLOBAL APPEND_STRING PROPERTY DLOCK_CONFIG
	"#define DLOCK_HAVE_TLS ${have}\n")
