/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guard.h"

#include <stdlib.h>

#include "core/base/attendant.h"
#include "core/net/names.h"
#include "core/uri/uri.h"

/* How often a thread that sleeps looks whether it is to attend. */
#define LOOK_NS (10 * DLK_MS)

int dlki_client_here(const struct dlock_client *client, struct dlk_error *err)
{
	if (!client)
		return dlk_fail(err, DLOCK_EINVAL, "client is NULL");
	if (client->process == dlki_process())
		return 0;
	return dlk_fail(err, DLOCK_EFORKED,
			"the client was opened before fork(); open one here");
}

int dlki_client_ours(const struct dlock_client *client, struct dlk_error *err)
{
	int rc = dlki_client_here(client, err);

	if (rc == 0 && !atomic_load(&client->opened))
		rc = dlk_fail(
			err, DLOCK_EINVAL,
			"the client is not open: wait for the callback of "
			"dlock_open_start()");
	return rc;
}

void dlki_call_begin(struct dlock_client *client)
{
	client->calls++;
}

void dlki_call_end(struct dlock_client *client)
{
	client->calls--;
	if (client->closing)
		pthread_cond_broadcast(&client->changed);
}

int dlki_client_begin(struct dlock_client *client, struct dlk_error *err)
{
	int rc = dlki_client_ours(client, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&client->mu);
	if (client->closing)
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	else
		dlki_call_begin(client);
	pthread_mutex_unlock(&client->mu);
	return rc;
}

void dlki_client_sleep(struct dlock_client *client, dlk_time until)
{
	dlk_time look_at = dlk_now() + LOOK_NS;

	if (client->attendant && dlki_attendant_is_wanted(client->attendant)) {
		pthread_mutex_unlock(&client->mu);
		dlki_attend_if_free(client->attendant);
		pthread_mutex_lock(&client->mu);
		return;
	}
	if (client->attendant && look_at < until)
		until = look_at;
	dlk_cond_wait(&client->changed, &client->mu, until);
}

void dlki_client_destroy(struct dlock_client *client)
{
	dlki_names_end();
	dlki_blocks_destroy(&client->claims);
	dlki_owners_destroy(&client->owners);
	dlki_log_destroy(&client->log);
	dlki_uri_free(client->uri);
	pthread_cond_destroy(&client->changed);
	pthread_mutex_destroy(&client->mu);
	dlki_ask_destroy(&client->ask);
	dlki_rousers_destroy(&client->rousers);
	dlki_pump_destroy(client);
	dlki_heap_destroy(&client->schedule.work);
	dlki_heap_destroy(&client->schedule.clean);
	dlki_heap_destroy(&client->schedule.expiry);
	dlki_heap_destroy(&client->asyncs.next);
	dlki_heap_destroy(&client->asyncs.end);
	free(client->asyncs.slots.v);
	dlki_attendant_free(client->attendant);
	dlki_due_destroy(&client->asyncs.due);
	free(client->slots.v);
	free(client->session);
	free(client->label);
	free(client);
}

void dlki_client_unlock(struct dlock_client *client)
{
	int last = client->refs == 0;

	pthread_mutex_unlock(&client->mu);
	if (last)
		dlki_client_destroy(client);
}

void dlki_client_end(struct dlock_client *client)
{
	pthread_mutex_lock(&client->mu);
	dlki_call_end(client);
	dlki_client_unlock(client);
}
