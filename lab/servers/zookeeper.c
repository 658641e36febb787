/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/servers/zookeeper.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#include <stdlib.h>
#include <string.h>

#define JAR "/usr/share/java/zookeeper.jar"
#define LOGGER "/usr/share/java/slf4j-simple.jar"
#define REPLY_MAX 16384
#define WORD_MS 2000
#define READY_MS 30000 /* a JVM on a busy machine */

/* The JVM as small and quick to start as can be. */
static const char *const jvm[] = {
	"java",
	"-Xmx96m",
	"-Xshare:auto",
	"-XX:+UseSerialGC",
	"-XX:TieredStopAtLevel=1",
	"-XX:-UsePerfData",
	"-Dzookeeper.jmx.log4j.disable=true",
	"-Dzookeeper.preAllocSize=64",
	"-Dzookeeper.admin.enableServer=false",
	"-Dznode.container.checkIntervalMs=1000",
	"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
};

static int or_else(int value, int otherwise)
{
	return value > 0 ? value : otherwise;
}

static int max_session_ms(const struct lab_zk_options *o)
{
	if (o->id == 1 && o->max_session_of_first_ms > 0)
		return o->max_session_of_first_ms;
	return or_else(o->max_session_ms, 60000);
}

static int write_config(struct lab_server *s, const struct lab_zk_options *o)
{
	/* syncLimit and initLimit are for ensembles, in ticks. */
	if (lab_server_file(s, "zoo.cfg",
			    "tickTime=%d\n"
			    "minSessionTimeout=%d\n"
			    "maxSessionTimeout=%d\n"
			    "dataDir=%s/data\n"
			    "clientPort=%d\n"
			    "clientPortAddress=" LAB_LOOPBACK "\n"
			    "maxClientCnxns=0\n"
			    "admin.enableServer=false\n"
			    "extendedTypesEnabled=true\n"
			    "4lw.commands.whitelist=*\n"
			    "initLimit=50\n"
			    "syncLimit=10\n"
			    "%s",
			    or_else(o->tick_ms, 100),
			    or_else(o->min_session_ms, 200), max_session_ms(o),
			    s->dir, s->port, o->config ? o->config : "") < 0)
		return -1;
	return 0;
}

static int zookeeper_command(struct lab_server *s, struct lab_args *args)
{
	const struct lab_zk_options *o = s->options;

	if (write_config(s, o) < 0)
		return -1;
	if (o->id > 0 && lab_server_file(s, "myid", "%d\n", o->id) < 0)
		return -1;
	/* The server makes the data directory, but wants the number there
	 * first. */
	if (o->id > 0) {
		lab_arg(args, "sh");
		lab_arg(args, "-c");
		lab_arg(args, "mkdir -p data && cp myid data/ && exec \"$@\"");
		lab_arg(args, "sh");
	}
	for (size_t i = 0; i < sizeof(jvm) / sizeof(jvm[0]); i++)
		lab_arg(args, "%s", jvm[i]);
	lab_arg(args, "-Dzookeeper.forceSync=%s", o->sync ? "yes" : "no");
	if (o->java)
		lab_arg(args, "%s", o->java);
	lab_arg(args, "-cp");
	lab_arg(args, JAR ":" LOGGER);
	lab_arg(args, "org.apache.zookeeper.server.quorum.QuorumPeerMain");
	lab_arg(args, "%s/zoo.cfg", s->dir);
	return 0;
}

/* `ruok` is answered before sessions are. */
static int zookeeper_probe(struct lab_server *s, int64_t deadline)
{
	const struct lab_zk_options *o = s->options;
	struct lab_address to = lab_server_address(s);
	char reply[1024];

	if (lab_ask(&to, o->id > 0 ? "ruok" : "srvr", reply, sizeof(reply),
		    NULL, deadline) < 0)
		return 0;
	return strstr(reply, o->id > 0 ? "imok" : "\nMode: ") != NULL;
}

static int zookeeper_wipe(struct lab_server *s)
{
	return lab_server_remove(s, "data");
}

static const struct lab_server_kind kind = {
	.name = "zookeeper",
	.ready_ms = READY_MS,
	.command = zookeeper_command,
	.probe = zookeeper_probe,
	.wipe = zookeeper_wipe,
};

struct lab_server *lab_zk_start(const struct lab_zk_options *options)
{
	return lab_server_start(&kind, options, sizeof(*options), false);
}

int lab_zk_word(struct lab_server *s, const char *word, char *reply,
		size_t size)
{
	struct lab_address to = lab_server_address(s);

	return lab_ask(&to, word, reply, size, NULL, lab_after_ms(WORD_MS));
}

int64_t lab_zk_number(struct lab_server *s, const char *word, const char *name)
{
	char reply[REPLY_MAX];
	const char *at;

	if (lab_zk_word(s, word, reply, sizeof(reply)) < 0)
		return -1;
	at = strstr(reply, name);
	if (at && strchr(":\t", at[strlen(name)]))
		return strtoll(at + strlen(name) + 1, NULL, 10);
	return lab_fail("no '%s' in the answer to %s", name, word);
}

const char *lab_zk_mode(struct lab_server *s)
{
	static const char *const modes[] = { "standalone", "leader",
					     "follower" };
	char reply[1024];
	const char *at;

	if (lab_zk_word(s, "srvr", reply, sizeof(reply)) < 0)
		return "";
	at = strstr(reply, "\nMode: ");
	for (size_t i = 0; at && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strncmp(at + 7, modes[i], strlen(modes[i])) == 0)
			return modes[i];
	}
	return "";
}
