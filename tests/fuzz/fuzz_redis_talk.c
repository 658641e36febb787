/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis store's protocol, in the engine, against a server that sends any
 * bytes: network and clock are a scripted world, and the server sends the
 * input's bytes.  Each op must end with a single outcome of the verb, with a
 * message if the op failed, and no memory may leak.
 *
 * Input: URI, kind and mode; size of the pieces; eight ops; then the bytes of
 * the server, on both connections in turn.
 */
#include "backends/redis/protocol/store.h"
#include "core/loop/engine.h"
#include "core/uri/uri.h"
#include "support/address.h"
#include "tests/loop/script.h"
#include "tests/fuzz/fuzz.h"

#define TOKEN_MAX UINT64_C(9007199254740991)
#define STEP_NS (50 * DLK_MS)

enum { OPS = 8, HEAD = 2 + OPS, TTL_MS = 1000, SOCKS = SCRIPT_SOCKS - 2 };

extern const struct dlock_backend dlki_redis_backend;

static struct script world;
static struct dlki_op ops[OPS];
static int ended[OPS];
static char abouts[OPS][DLKI_ABOUT];

static const uint8_t *sent;
static size_t left, piece;
static int made; /* connections so far */

/* ---- Outcomes ------------------------------------------------------------ */

static void require_granted(const struct dlki_op *op)
{
	REQUIRE(op->verb == DLKI_ATTEMPT);
	REQUIRE(op->token >= 1 && op->token <= TOKEN_MAX);
	REQUIRE(op->since > 0 && op->since <= world.clock);
	REQUIRE(op->lease_ms > 0 && op->lease_ms <= TTL_MS);
}

static void on_done(struct dlki_op *op, dlk_time now)
{
	REQUIRE(now <= world.clock);
	REQUIRE(++ended[op - ops] == 1);
	switch (op->outcome) {
	case DLKI_GRANTED:
		require_granted(op);
		break;
	case DLKI_BUSY:
		REQUIRE(op->verb == DLKI_ATTEMPT && op->look_in_ms > 0);
		break;
	case DLKI_ANSWERED:
		REQUIRE(op->verb != DLKI_ATTEMPT && op->since > 0);
		break;
	case DLKI_FAILED:
		REQUIRE(op->error && op->error->code < 0);
		require_text(op->error->text);
		break;
	case DLKI_AGAIN:
	case DLKI_UNANSWERED:
	case DLKI_UNSENT:
		break;
	default:
		abort();
	}
}

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock_us,
		      int64_t lease_ms, dlk_time now)
{
	(void)arg;
	(void)id;
	REQUIRE(token >= 1 && token <= TOKEN_MAX && clock_us <= TOKEN_MAX);
	REQUIRE(lease_ms > 0 && lease_ms <= TTL_MS && now <= world.clock);
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	(void)arg;
	REQUIRE(strlen(owner) == RD_OWNER_LEN && now <= world.clock);
}

static void on_text(void *arg, const char *text)
{
	(void)arg;
	require_text(text);
}

static void each_participant(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	REQUIRE(strlen(p->label) < 512 && strlen(p->id) < 64);
	REQUIRE(p->token <= TOKEN_MAX && p->remaining_ms >= -1);
}

static void each_lock(const struct dlock_lock_info *e, void *arg)
{
	(void)arg;
	REQUIRE(e->name[0] && strlen(e->name) < 256 && e->kind);
}

/* ---- The server ---------------------------------------------------------- */

/* Accept connections while input is left. */
static void accept_all(void)
{
	for (; made < world.opened && made < SOCKS; made++) {
		if (!world.socks[made].is_open)
			continue;
		if (left > 0)
			script_connected(&world, made);
		else
			script_refused(&world, made, -111);
	}
}

/* Return the speaker: the last two open connections speak in turn. */
static int speaker(int which)
{
	int found = -1;

	for (int i = made - 1; i >= 0; i--) {
		if (!world.socks[i].is_open)
			continue;
		found = i;
		if (which-- == 0)
			break;
	}
	return found;
}

static void speak(int which)
{
	size_t n = piece && piece < left ? piece : left;
	int sock = speaker(which);

	if (sock < 0)
		return;
	if (n > 4096)
		n = 4096;
	if (n > 0)
		script_says_bytes(&world, sock, (const char *)sent, n);
	else
		script_ends(&world, sock);
	sent += n;
	left -= n;
}

static void hear(void)
{
	for (int i = 0; i < made; i++) {
		const char *text = script_heard(&world, i);

		REQUIRE(!*text || *text == '*');
	}
}

/* ---- One engine ---------------------------------------------------------- */

static struct dlk_uri *parse(int which)
{
	static const char *const texts[] = {
		"redis://127.0.0.1?ttl=1s",
		"redis://user:secret@127.0.0.1:1/3?client_name=me&order=any"
		"&ttl=1s",
	};
	static struct dlk_uri *uris[2];
	struct dlk_error err;

	if (!uris[which])
		REQUIRE(dlki_uri_parse(&uris[which], texts[which],
				       dlki_redis_backend.params, NULL,
				       &err) == 0);
	return uris[which];
}

static const struct dlk_request *request_of(uint8_t how)
{
	static struct dlk_request r;
	int kind = how >> 1 & 3; /* 0, 1: writer; 2: reader; 3: semaphore */

	r = (struct dlk_request){
		.name = "name",
		.key = kind == 3 ? "sname" : "lname",
		.owner = "0123456789abcdef0123456789abcdef",
		.label = "host:1",
		.kind = kind == 3 ? DLK_SEMAPHORE : DLK_LOCK,
		.mode = kind >= 2 ? DLK_SHARED : DLK_EXCLUSIVE,
		.limit = kind == 3 ? 2 : 0,
	};
	return &r;
}

static struct dlki_engine *begin(uint8_t how)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wanted = on_wanted,
		.warn = on_text,
		.unheard = on_text,
	};
	struct dlki_address address;
	struct dlki_engine_options options = {
		.world = &world.base,
		.protocol = &dlki_redis_protocol,
		.uri = parse(how & 1),
		.label = "host:1",
		.place.addresses = &address,
		.place.n_addresses = 1,
		.news = &news,
		.connect_ms = 300,
		.patience_ms = 200,
	};
	struct dlki_engine *e;
	struct dlk_error err;

	script_init(&world);
	REQUIRE(address_tcp(&address, "127.0.0.1", 6379) == 0);
	e = dlki_engine_new(&options, &err);
	REQUIRE(e && dlki_lock(e) == 0);
	dlki_push(e);
	return e;
}

static void submit(struct dlki_engine *e, int i, uint8_t what, uint8_t how)
{
	static const enum dlki_verb verbs[] = {
		DLKI_RENEW,   DLKI_RELEASE,   DLKI_INSPECT, DLKI_LIST,
		DLKI_BREAK,   DLKI_DOWNGRADE, DLKI_ATTEMPT, DLKI_WATCH,
		DLKI_ATTEMPT, DLKI_REVOKE,
	};
	struct dlki_op *op = &ops[i];

	op->verb = verbs[what % (sizeof(verbs) / sizeof(verbs[0]))];
	op->request = op->verb == DLKI_LIST ? NULL : request_of(how);
	op->id = (uint64_t)i + 1;
	op->token = what >> 7 ? UINT64_C(1700000000000001) : 0;
	op->deadline = world.clock + 1000 * DLK_MS;
	op->about = abouts[i];
	op->done = on_done;
	if (op->verb == DLKI_INSPECT)
		op->each.participant = each_participant;
	else if (op->verb == DLKI_LIST)
		op->each.lock = each_lock;
	REQUIRE(dlki_submit(e, op) == 0);
	dlki_push(e);
}

/* Have the server send, and the engine read; or let time pass. */
static void step(struct dlki_engine *e, int which)
{
	accept_all();
	speak(which);
	dlki_turn(e, DLKI_ALL_SETS, world.clock + STEP_NS);
	hear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dlki_engine *e;

	if (size < HEAD || size > 65536)
		return 0;
	sent = data + HEAD;
	left = size - HEAD;
	piece = data[1];
	made = 0;
	memset(ops, 0, sizeof(ops));
	memset(ended, 0, sizeof(ended));
	memset(abouts, 0, sizeof(abouts));
	e = begin(data[0]);
	step(e, 0);
	for (int i = 0; i < OPS; i++) {
		submit(e, i, data[2 + i], data[0]);
		step(e, i & 1);
	}
	for (int i = 0; left > 0 && made < SOCKS && i < 2000; i++)
		step(e, i & 1);
	dlki_unlock(e);
	dlki_engine_free(e);
	for (int i = 0; i < OPS; i++)
		REQUIRE(ended[i] == 1);
	for (int i = 0; i < SCRIPT_SOCKS; i++)
		REQUIRE(!world.socks[i].is_open);
	script_free(&world);
	return 0;
}
