/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dlki_zk_news(struct zk_hub *h, int level, const char *fmt, ...)
{
	struct zk_news *n = &h->news[h->n_news];
	va_list args;

	if (!h->session)
		return;
	if (h->n_news == ZK_NEWS) {
		h->untold++;
		return;
	}
	n->level = level;
	va_start(args, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, args);
	va_end(args);
	h->n_news++;
	pthread_cond_signal(&h->work);
}

int dlki_zk_news_tell(struct zk_hub *h)
{
	struct zk_news news[ZK_NEWS];
	struct dlk_session *s = h->session;
	size_t n = h->n_news;
	uint64_t untold = h->untold;

	if (!s || n == 0)
		return 0;
	memcpy(news, h->news, n * sizeof(news[0]));
	h->n_news = 0;
	h->untold = 0;
	h->telling = 1;
	pthread_mutex_unlock(&h->mu);
	for (size_t i = 0; i < n; i++)
		dlk_log(s, news[i].level, "%s", news[i].text);
	if (untold > 0)
		dlk_log(s, 1, "%llu more lines were not kept",
			(unsigned long long)untold);
	pthread_mutex_lock(&h->mu);
	h->telling = 0;
	pthread_cond_broadcast(&h->changed);
	return 1;
}

void dlki_zk_news_end(struct zk_hub *h)
{
	h->session = NULL;
	while (h->telling)
		pthread_cond_wait(&h->changed, &h->mu);
}
