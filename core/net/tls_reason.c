/* SPDX-License-Identifier: Apache-2.0 */
/* Why a session failed, for people: the culprit, and the cure. */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "core/net/tls_openssl.h"

enum { NAMES_SHOWN = 3 };

size_t dlki_tls_address(const char *name, unsigned char out[16])
{
	if (inet_pton(AF_INET, name, out) == 1)
		return 4;
	return inet_pton(AF_INET6, name, out) == 1 ? 16 : 0;
}

int dlki_tls_error(struct dlk_error *err, int code, const char *doing)
{
	const char *why = ERR_reason_error_string(ERR_peek_last_error());

	return dlk_fail(err, code, "%s: %s", doing, why ? why : "unknown");
}

/* ---- The server's certificate -------------------------------------------- */

/* Print a name of a certificate; 0: neither of a host nor of an address. */
static int print_name(char *out, size_t size, const GENERAL_NAME *name)
{
	char address[INET6_ADDRSTRLEN];
	const ASN1_STRING *text;
	int len, kind;

	text = GENERAL_NAME_get0_value(name, &kind);
	len = ASN1_STRING_length(text);
	if (kind == GEN_DNS)
		return snprintf(out, size, "'%.*s'", len < 60 ? len : 60,
				(const char *)ASN1_STRING_get0_data(text));
	if (kind != GEN_IPADD || (len != 4 && len != 16) ||
	    !inet_ntop(len == 4 ? AF_INET : AF_INET6,
		       ASN1_STRING_get0_data(text), address, sizeof(address)))
		return 0;
	return snprintf(out, size, "%s", address);
}

/* Print "'a.example', 10.0.0.1 and 4 more", or "". */
static void print_names(char *out, size_t size, const X509 *cert)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name,
						NULL, NULL);
	int n = names ? sk_GENERAL_NAME_num(names) : 0;
	int shown = 0, more = 0;
	size_t len = 0;
	char one[64];

	*out = '\0';
	for (int i = 0; i < n; i++) {
		if (print_name(one, sizeof(one),
			       sk_GENERAL_NAME_value(names, i)) == 0)
			continue;
		if (shown < NAMES_SHOWN && len + strlen(one) + 16 < size)
			len += (size_t)snprintf(out + len, size - len, "%s%s",
						shown++ > 0 ? ", " : "", one);
		else
			more++;
	}
	if (more > 0)
		snprintf(out + len, size - len, " and %d more", more);
	GENERAL_NAMES_free(names);
}

static void print_date(char out[16], const ASN1_TIME *at)
{
	struct tm tm = { 0 };

	snprintf(out, 16, "an unknown day");
	if (ASN1_TIME_to_tm(at, &tm) == 1)
		snprintf(out, 16, "%04d-%02d-%02d", (tm.tm_year + 1900) % 10000,
			 (tm.tm_mon + 1) % 100, tm.tm_mday % 100);
}

static void print_common_name(char *out, size_t size, X509_NAME *name)
{
	if (X509_NAME_get_text_by_NID(name, NID_commonName, out, (int)size) < 1)
		snprintf(out, size, "a nameless authority");
}

static void wrong_name(struct dlki_tls_session *s, const X509 *cert)
{
	char names[120];

	print_names(names, sizeof(names), cert);
	if (*names)
		dlk_fail(&s->flaw, DLOCK_EDENIED,
			 "the certificate is for %s, not '%.60s'; tls_name= "
			 "says another name",
			 names, s->name);
	else
		dlk_fail(&s->flaw, DLOCK_EDENIED,
			 "the certificate has no subjectAltName, so it is not "
			 "for '%.60s'; tls_verify=ca checks the chain alone",
			 s->name);
}

static void unknown_authority(struct dlki_tls_session *s, X509 *cert)
{
	char issuer[60];

	print_common_name(issuer, sizeof(issuer), X509_get_issuer_name(cert));
	if (s->client->ca)
		dlk_fail(&s->flaw, DLOCK_EDENIED,
			 "the certificate is signed by '%s', which is not in "
			 "tls_ca '%.80s'",
			 issuer, s->client->ca);
	else
		dlk_fail(&s->flaw, DLOCK_EDENIED,
			 "the certificate is signed by '%s', which this system "
			 "does not know; tls_ca= names the file of another "
			 "authority",
			 issuer);
}

static void wrong_time(struct dlki_tls_session *s, const X509 *cert, int depth,
		       int expired)
{
	const char *whose = depth > 0 ? " of an authority" : "";
	char date[16];

	print_date(date, expired ? X509_get0_notAfter(cert) :
				   X509_get0_notBefore(cert));
	dlk_fail(&s->flaw, DLOCK_EDENIED,
		 expired ? "the certificate%s expired on %s, by this host's "
			   "clock; the server needs a new one" :
			   "the certificate%s is not valid before %s; is this "
			   "host's clock right?",
		 whose, date);
}

void dlki_tls_flaw(struct dlki_tls_session *s, X509_STORE_CTX *store)
{
	X509 *cert = X509_STORE_CTX_get_current_cert(store);
	int error = X509_STORE_CTX_get_error(store);

	switch (error) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		wrong_name(s, cert);
		break;
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
		unknown_authority(s, cert);
		break;
	case X509_V_ERR_CERT_HAS_EXPIRED:
	case X509_V_ERR_CERT_NOT_YET_VALID:
		wrong_time(s, cert, X509_STORE_CTX_get_error_depth(store),
			   error == X509_V_ERR_CERT_HAS_EXPIRED);
		break;
	default:
		dlk_fail(&s->flaw, DLOCK_EDENIED,
			 "the server's certificate is not accepted: %s",
			 X509_verify_cert_error_string(error));
	}
}

/* ---- The server's alerts, and all else ----------------------------------- */

static void refused_certificate(struct dlki_tls_session *s, const char *alert)
{
	if (s->client->has_cert)
		dlk_fail(&s->why, DLOCK_EDENIED,
			 "the server refused the client's certificate: %s; "
			 "tls_cert= names another",
			 alert);
	else
		dlk_fail(&s->why, DLOCK_EDENIED,
			 "the server wants a client's certificate (%s); "
			 "tls_cert= and tls_key= name the files",
			 alert);
}

/* Return the code of a failure.  After the handshake the server is the right
 * one, and only the connection is lost: the next may be good. */
static int senseless(const struct dlki_tls_session *s)
{
	return s->base.up ? DLOCK_EUNREACHABLE : DLOCK_EPROTO;
}

static void alerted(struct dlki_tls_session *s, int alert)
{
	const char *text = SSL_alert_desc_string_long(alert);

	switch (alert) {
	case SSL_AD_BAD_CERTIFICATE:
	case SSL_AD_UNSUPPORTED_CERTIFICATE:
	case SSL_AD_CERTIFICATE_REVOKED:
	case SSL_AD_CERTIFICATE_EXPIRED:
	case SSL_AD_CERTIFICATE_UNKNOWN:
	case SSL_AD_UNKNOWN_CA:
	case SSL_AD_ACCESS_DENIED:
	case SSL_AD_CERTIFICATE_REQUIRED:
		refused_certificate(s, text);
		break;
	case SSL_AD_PROTOCOL_VERSION:
		dlk_fail(&s->why, DLOCK_EPROTO,
			 "the server has neither TLS 1.2 nor 1.3");
		break;
	case SSL_AD_UNRECOGNIZED_NAME:
		dlk_fail(&s->why, DLOCK_EDENIED,
			 "the server does not know the name '%.60s'; tls_name= "
			 "says another",
			 s->name);
		break;
	case SSL_AD_HANDSHAKE_FAILURE:
		dlk_fail(&s->why, DLOCK_EDENIED,
			 "the server refused the TLS handshake%s",
			 s->client->has_cert ?
				 "" :
				 "; it may want a client's certificate, which "
				 "tls_cert= and tls_key= name");
		break;
	default:
		dlk_fail(&s->why, senseless(s),
			 "the server ended TLS with an alert: %s", text);
	}
}

void dlki_tls_reason(struct dlki_tls_session *s)
{
	unsigned long last = ERR_peek_last_error();
	int reason = ERR_GET_LIB(last) == ERR_LIB_SSL ? ERR_GET_REASON(last) :
							0;

	if (s->flaw.code != 0)
		s->why = s->flaw;
	else if (reason > SSL_AD_REASON_OFFSET)
		alerted(s, reason - SSL_AD_REASON_OFFSET);
	else if (reason == SSL_R_UNSUPPORTED_PROTOCOL)
		alerted(s, SSL_AD_PROTOCOL_VERSION);
	else
		dlki_tls_error(&s->why, senseless(s),
			       "the server's TLS makes no sense");
}
