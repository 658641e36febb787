/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authorities and certificates in a directory of the test's own.
 */
#ifndef TESTS_TLS_CERTS_H
#define TESTS_TLS_CERTS_H

struct cert_spec {
	const char *name;     /* of the files: NAME.pem and NAME.key */
	const char *signer;   /* the name of an authority; NULL: itself */
	const char *san;      /* "DNS:a.example,IP:127.0.0.1", or NULL */
	int from_days;        /* valid from so many days from now ... */
	int to_days;          /* ... to so many; 0 and 0: today, and ten days */
	int is_authority;
};

/* Make the directory, and in it:
 *
 *	ca, other	authorities that do not know each other
 *	server		by ca, for localhost, 127.0.0.1 and ::1
 *	client		by ca
 */
void certs_begin(void);
void certs_end(void);

void certs_make(const struct cert_spec *spec);

/* The path of a file there, "ca.pem"; static, until the eighth next call. */
const char *certs_path(const char *file);

/* Make a file there. */
const char *certs_file(const char *file, const char *text, unsigned int mode);

#endif
