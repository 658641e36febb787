/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/tls/failing.c lets fail. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>

#include "support/fault.h"

FAULT_WRAP(void *, NULL, calloc, (size_t n, size_t size), (n, size))
FAULT_WRAP(void *, NULL, malloc, (size_t size), (size))
FAULT_WRAP(char *, NULL, strdup, (const char *text), (text))
FAULT_WRAP(int, 0, OPENSSL_init_ssl,
	   (uint64_t options, const OPENSSL_INIT_SETTINGS *settings),
	   (options, settings))
FAULT_WRAP(SSL_CTX *, NULL, SSL_CTX_new, (const SSL_METHOD *method), (method))
FAULT_WRAP(int, 0, SSL_CTX_set_default_verify_paths, (SSL_CTX * ctx), (ctx))
FAULT_WRAP(int, 0, X509_STORE_add_cert, (X509_STORE * store, X509 *cert),
	   (store, cert))
FAULT_WRAP(BIO *, NULL, BIO_new_mem_buf, (const void *bytes, int n), (bytes, n))
FAULT_WRAP(BIO *, NULL, BIO_new, (const BIO_METHOD *method), (method))
FAULT_WRAP(int, -1, BIO_write, (BIO * bio, const void *bytes, int n),
	   (bio, bytes, n))
FAULT_WRAP(SSL *, NULL, SSL_new, (SSL_CTX * ctx), (ctx))
FAULT_WRAP(int, 0, SSL_set_ex_data, (SSL * ssl, int place, void *data),
	   (ssl, place, data))
FAULT_WRAP(long, 0, SSL_ctrl, (SSL * ssl, int command, long n, void *arg),
	   (ssl, command, n, arg))
FAULT_WRAP(int, 0, SSL_set_session, (SSL * ssl, SSL_SESSION *session),
	   (ssl, session))
FAULT_WRAP(int, 0, SSL_key_update, (SSL * ssl, int type), (ssl, type))
FAULT_WRAP(int, 0, SSL_write_ex,
	   (SSL * ssl, const void *bytes, size_t n, size_t *done),
	   (ssl, bytes, n, done))

/* For want of memory, as OpenSSL tells of it. */
static void *ran_out(void)
{
	ERR_raise(ERR_LIB_PEM, ERR_R_MALLOC_FAILURE);
	ERR_raise(ERR_LIB_PEM, ERR_R_PEM_LIB);
	return NULL;
}

FAULT_WRAP(X509 *, ran_out(), PEM_read_bio_X509_AUX,
	   (BIO * bio, X509 **cert, pem_password_cb *ask, void *arg),
	   (bio, cert, ask, arg))
FAULT_WRAP(EVP_PKEY *, ran_out(), PEM_read_bio_PrivateKey,
	   (BIO * bio, EVP_PKEY **key, pem_password_cb *ask, void *arg),
	   (bio, key, ask, arg))
