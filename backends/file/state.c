/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/state.h"

#include <dlock/backend.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COPY_SIZE 512
#define COPY_AT(i) (512 + COPY_SIZE * (i))
#define PARTICIPANTS_AT 2048
#define PARTICIPANT_SIZE 128
#define BLOCK 2048

_Static_assert(sizeof(struct file_participant) <= PARTICIPANT_SIZE,
	       "a record fits");
_Static_assert(sizeof(struct file_header) <= 512 &&
		       sizeof(struct file_state) <= 512,
	       "they fit");

static const char magic[8] = "dlock\r\n";

/* Sum up eight bytes a step; the size of each structure is a multiple of eight.
 * The sum finds torn and stale bytes, not forgeries: a forger could write a
 * good sum as well. */
static uint64_t checksum(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t h = UINT64_C(0x9E3779B97F4A7C15);
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
		h ^= h >> 32;
	}
	return h;
}

#define SUM(rec) checksum(rec, offsetof(__typeof__(*(rec)), sum))

static int write_at(int fd, const void *data, size_t size, off_t at)
{
	ssize_t n;

	do
		n = pwrite(fd, data, size, at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n < size) {
		errno = ENOSPC;
		return -1;
	}
	return 0;
}

/* Read `size` bytes; beyond the end of the file they are zeroes. */
static int read_at(int fd, void *data, size_t size, off_t at)
{
	ssize_t n;

	do
		n = pread(fd, data, size, at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	memset((char *)data + n, 0, size - (size_t)n);
	return 0;
}

static int all_zeroes(const char *p, size_t size)
{
	return !*p && !memcmp(p, p + 1, size - 1);
}

static enum file_found judge_header(const struct file_header *h,
				    enum dlk_kind kind, const char *name)
{
	if (all_zeroes((const char *)h, sizeof(*h)))
		return FILE_FRESH;
	if (memcmp(h->magic, magic, sizeof(magic)))
		return FILE_FOREIGN;
	/* First: the sum of another format may be another sum. */
	if (h->version != FILE_FORMAT)
		return FILE_OTHER_FORMAT;
	if (h->sum != SUM(h) || memchr(h->name, 0, sizeof(h->name)) == NULL)
		return FILE_DAMAGED;
	if (name && (h->kind != (uint32_t)kind || strcmp(h->name, name)))
		return FILE_OTHER;
	return FILE_GOOD;
}

/* Another user may have written a label without an end, and a good sum. */
static int copy_good(const struct file_state *s)
{
	return s->seq && s->sum == SUM(s) && !s->label[FILE_LABEL_SIZE - 1];
}

/* Choose the good copy with the higher number, or zeroes. */
static int choose_copy(const char *copies, struct file_state *state)
{
	struct file_state copy[2];
	int i, first;

	memcpy(&copy[0], copies, sizeof(copy[0]));
	memcpy(&copy[1], copies + COPY_SIZE, sizeof(copy[1]));
	first = copy[1].seq > copy[0].seq;
	for (i = 0; i < 2; i++) {
		if (copy_good(&copy[first ^ i])) {
			*state = copy[first ^ i];
			return 1;
		}
	}
	memset(state, 0, sizeof(*state));
	return 0;
}

int dlki_file_load(int fd, enum dlk_kind kind, const char *name,
		   struct file_header *header, struct file_state *state)
{
	char block[COPY_AT(1) + sizeof(*state)];
	enum file_found found;

	if (read_at(fd, block, sizeof(block), 0) < 0)
		return -1;
	memcpy(header, block, sizeof(*header));
	found = judge_header(header, kind, name);
	if (!choose_copy(block + COPY_AT(0), state) && found == FILE_GOOD)
		found = FILE_DAMAGED;
	return (int)found;
}

int dlki_file_load_state(int fd, struct file_state *state)
{
	char copies[COPY_SIZE + sizeof(*state)];

	return read_at(fd, copies, sizeof(copies), COPY_AT(0)) == 0 &&
	       choose_copy(copies, state);
}

int dlki_file_store(int fd, struct file_state *st)
{
	st->seq++;
	st->sum = SUM(st);
	return write_at(fd, st, sizeof(*st), COPY_AT((int)(st->seq & 1)));
}

int dlki_file_format(int fd, enum dlk_kind kind, const char *name,
		     struct file_state *st)
{
	struct file_header h;
	char block[BLOCK];

	memset(&h, 0, sizeof(h));
	memcpy(h.magic, magic, sizeof(magic));
	h.version = FILE_FORMAT;
	h.kind = (uint32_t)kind;
	strncpy(h.name, name, sizeof(h.name) - 1);
	h.sum = SUM(&h);
	st->seq++;
	st->sum = SUM(st);
	memset(block, 0, sizeof(block));
	memcpy(block, &h, sizeof(h));
	memcpy(block + COPY_AT((int)(st->seq & 1)), st, sizeof(*st));
	return write_at(fd, block, sizeof(block), 0);
}

static off_t participant_at(uint32_t slot)
{
	return PARTICIPANTS_AT + (off_t)slot * PARTICIPANT_SIZE;
}

int dlki_file_participant_store(int fd, uint32_t slot,
				struct file_participant *p)
{
	if (slot >= FILE_HOLDER_SLOTS + FILE_WAITER_SLOTS)
		return 0;
	p->sum = SUM(p);
	return write_at(fd, p, sizeof(*p), participant_at(slot));
}

int dlki_file_participant_load(int fd, uint32_t slot,
			       struct file_participant *p)
{
	if (read_at(fd, p, sizeof(*p), participant_at(slot)) < 0)
		return 0;
	return p->session && p->sum == SUM(p) && !p->label[FILE_LABEL_SIZE - 1];
}

int dlki_file_hint(int fd, uint32_t *slot)
{
	return read_at(fd, slot, sizeof(*slot), FILE_HINT_AT);
}

void dlki_file_hint_store(int fd, uint32_t slot)
{
	(void)write_at(fd, &slot, sizeof(slot), FILE_HINT_AT);
}

void dlki_file_label(char out[FILE_LABEL_SIZE], const char *label)
{
	size_t n = label ? dlk_utf8_clip(label, FILE_LABEL_SIZE - 1) : 0;

	memset(out, 0, FILE_LABEL_SIZE);
	if (n)
		memcpy(out, label, n);
}

uint64_t dlki_file_time(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) < 0 || ts.tv_sec < 1)
		return 1;
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}
