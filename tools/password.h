/* SPDX-License-Identifier: Apache-2.0 */
/* The password in a URI that has not been opened. */
#ifndef DLOCK_TOOLS_PASSWORD_H
#define DLOCK_TOOLS_PASSWORD_H

/* Overwrite the password with stars.  0 if there is none. */
int password_hide(char *uri);

#endif
