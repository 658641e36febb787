// SPDX-License-Identifier: Apache-2.0
// foreign.js PORT NAME PLACE SECONDS - two clients of node-redlock, for
// foreign.py.  Prints how often they had the lock.
const fs = require("fs");
const Redis = require("ioredis");
const redlock = require("redlock");
const Redlock = redlock.default || redlock;
const [port, name, place, seconds] = process.argv.slice(2);
const end = Date.now() + 1000 * seconds;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
let rounds = 0;

async function work() {
	const client = new Redis(Number(port), "127.0.0.1");
	const locks = new Redlock([client], { retryCount: -1, retryDelay: 5,
					      retryJitter: 5 });
	while (Date.now() < end) {
		const lock = await locks.acquire([name], 60000);
		try {
			fs.mkdirSync(place + "/in");
			await pause(2);
			fs.rmdirSync(place + "/in");
		} catch (e) {
			fs.appendFileSync(place + "/overlaps", "overlap\n");
		}
		await lock.release();
		rounds++;
		await pause(5);
	}
	client.disconnect();
}

Promise.all([work(), work()]).then(() => console.log(rounds));
