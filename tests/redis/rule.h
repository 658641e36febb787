/* SPDX-License-Identifier: Apache-2.0 */
/* The least ACL rule, as docs/redis.md tells it to people. */
#ifndef DLOCK_TESTS_REDIS_RULE_H
#define DLOCK_TESTS_REDIS_RULE_H

/* "ACL SETUSER ...", for this user and password.  Static. */
const char *least_rule(const char *user, const char *password);

#endif
