/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the model Redis, each a function that makes one reply.  The
 * table in sim/redis/command.c calls them, after a check of the number of
 * arguments.
 */
#ifndef DLOCK_SIM_REDIS_COMMANDS_H
#define DLOCK_SIM_REDIS_COMMANDS_H

struct rm_call;

/* strings.c */
void rm_get(const struct rm_call *call);
void rm_set(const struct rm_call *call);
void rm_setrange(const struct rm_call *call);

/* keys.c */
void rm_del(const struct rm_call *call);
void rm_exists(const struct rm_call *call);
void rm_pexpire(const struct rm_call *call);
void rm_persist(const struct rm_call *call);
void rm_pttl(const struct rm_call *call);
void rm_keys(const struct rm_call *call);
void rm_scan(const struct rm_call *call);
void rm_flushall(const struct rm_call *call);

/* hashes.c */
void rm_hget(const struct rm_call *call);
void rm_hmget(const struct rm_call *call);
void rm_hset(const struct rm_call *call);
void rm_hdel(const struct rm_call *call);

/* zsets.c */
void rm_zadd(const struct rm_call *call);
void rm_zrem(const struct rm_call *call);
void rm_zcard(const struct rm_call *call);
void rm_zscore(const struct rm_call *call);
void rm_zrank(const struct rm_call *call);

/* zranges.c */
void rm_zrange(const struct rm_call *call);
void rm_zrangebyscore(const struct rm_call *call);

/* connection.c */
void rm_ping(const struct rm_call *call);
void rm_select(const struct rm_call *call);
void rm_client(const struct rm_call *call);

/* info.c */
void rm_info(const struct rm_call *call);
void rm_time(const struct rm_call *call);
void rm_config(const struct rm_call *call);
void rm_replicaof(const struct rm_call *call);

/* channels.c */
void rm_publish(const struct rm_call *call);
void rm_subscribe(const struct rm_call *call);

/* scripts.c */
void rm_eval(const struct rm_call *call);
void rm_evalsha(const struct rm_call *call);
void rm_script(const struct rm_call *call);

#endif
