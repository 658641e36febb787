/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tls/certs.h"

#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/temp.h"

static char dir[PATH_MAX];
static long serial;

const char *certs_path(const char *file)
{
	static char path[8][PATH_MAX + 64];
	static int next;

	next = (next + 1) % 8;
	CHECK(snprintf(path[next], sizeof(path[next]), "%s/%s", dir, file) <
	      (int)sizeof(path[next]));
	return path[next];
}

const char *certs_file(const char *file, const char *text, unsigned int mode)
{
	const char *path = certs_path(file);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(fchmod(fd, mode) == 0);
	close(fd);
	return path;
}

static FILE *open_pem(const char *name, const char *suffix, const char *mode)
{
	char file[80];
	FILE *f;

	snprintf(file, sizeof(file), "%s.%s", name, suffix);
	f = fopen(certs_path(file), mode);
	CHECK(f);
	CHECK(fchmod(fileno(f), 0600) == 0);
	return f;
}

static X509 *load_cert(const char *name)
{
	FILE *f = open_pem(name, "pem", "r");
	X509 *cert = PEM_read_X509(f, NULL, NULL, NULL);

	fclose(f);
	CHECK(cert);
	return cert;
}

static EVP_PKEY *load_key(const char *name)
{
	FILE *f = open_pem(name, "key", "r");
	EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, NULL, NULL);

	fclose(f);
	CHECK(key);
	return key;
}

static void extend(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	CHECK(ext);
	CHECK(X509_add_ext(cert, ext, -1) == 1);
	X509_EXTENSION_free(ext);
}

static X509 *fill_in(const struct cert_spec *spec, EVP_PKEY *key)
{
	int dated = spec->from_days != 0 || spec->to_days != 0;
	X509 *cert = X509_new();
	X509_NAME *subject;

	CHECK(cert);
	CHECK(X509_set_version(cert, X509_VERSION_3) == 1);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
	X509_time_adj_ex(X509_getm_notBefore(cert), spec->from_days, -3600,
			 NULL);
	X509_time_adj_ex(X509_getm_notAfter(cert), dated ? spec->to_days : 10,
			 0, NULL);
	CHECK(X509_set_pubkey(cert, key) == 1);
	subject = X509_get_subject_name(cert);
	X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
				   (const unsigned char *)spec->name, -1, -1,
				   0);
	extend(cert, NID_basic_constraints,
	       spec->is_authority ? "critical,CA:TRUE" : "CA:FALSE");
	if (spec->san)
		extend(cert, NID_subject_alt_name, spec->san);
	return cert;
}

void certs_make(const struct cert_spec *spec)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	EVP_PKEY *signing = spec->signer ? load_key(spec->signer) : key;
	X509 *cert = fill_in(spec, key);
	X509 *signer = spec->signer ? load_cert(spec->signer) : cert;
	FILE *f;

	CHECK(X509_set_issuer_name(cert, X509_get_subject_name(signer)) == 1);
	CHECK(X509_sign(cert, signing, EVP_sha256()) > 0);
	f = open_pem(spec->name, "pem", "w");
	CHECK(PEM_write_X509(f, cert) == 1);
	fclose(f);
	f = open_pem(spec->name, "key", "w");
	CHECK(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1);
	fclose(f);
	if (signer != cert)
		X509_free(signer);
	if (signing != key)
		EVP_PKEY_free(signing);
	X509_free(cert);
	EVP_PKEY_free(key);
}

void certs_begin(void)
{
	CHECK(temp_make(dir) == 0);
	certs_make(&(struct cert_spec){ .name = "ca", .is_authority = 1 });
	certs_make(&(struct cert_spec){ .name = "other", .is_authority = 1 });
	certs_make(&(struct cert_spec){
		.name = "server",
		.signer = "ca",
		.san = "DNS:localhost,IP:127.0.0.1,IP:::1" });
	certs_make(&(struct cert_spec){ .name = "client", .signer = "ca" });
}

void certs_end(void)
{
	temp_remove(dir);
}
