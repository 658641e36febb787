/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No claim expires, but a renewal may find the lock file gone.
 */
#include "backends/file/file.h"

#include <sys/stat.h>

#include "backends/file/name.h"
#include "backends/file/token.h"

/* Does the file stand?  If the path cannot be checked, the number of links
 * decides. */
static int file_stands(const struct file_ticket *t)
{
	struct stat st;
	int rc = dlki_file_name_stands(t->name);

	if (rc >= 0)
		return rc;
	return fstat(t->fd, &st) < 0 || st.st_nlink > 0;
}

static enum dlk_renewal renew_one(struct file_ticket *t)
{
	enum dlk_renewal verdict = DLK_GONE;

	if (t->owns != FILE_OWNS_LOCK)
		return DLK_GONE;
	pthread_mutex_lock(&t->name->mu);
	if (!t->name->stale && file_stands(t)) {
		dlki_file_publish(t);
		verdict = DLK_STANDS;
	} else {
		dlki_file_name_stale(t->name);
	}
	pthread_mutex_unlock(&t->name->mu);
	return verdict;
}

void dlki_file_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		     enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		     struct dlk_error *err)
{
	size_t i;

	(void)s;
	(void)deadline;
	(void)err;
	for (i = 0; i < n; i++)
		verdict[i] = renew_one(file_ticket(t[i]));
}
