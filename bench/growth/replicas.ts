/** One to four replicas on PostgreSQL and Redis: CPU of each request, and how fast a revoked key is refused elsewhere. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PostgresServer } from "../../test/support/databases/postgres.ts";
import { startRedis } from "../../test/support/databases/redis.ts";
import { measure } from "../routing/load.ts";
import { median } from "../timing.ts";
import { revocation } from "./measure.ts";
import { type Started, start } from "./service.ts";

const REPLICAS = 4;
/** Connections of all replicas together; divisible by 1 to 4. */
const CONNECTIONS = 12;

export async function measureReplicas(postgres: PostgresServer, upstream: string): Promise<void> {
  const redis = await startRedis();
  const url = (await postgres.createDatabase()).reveal();
  const config = `builtin_models: false
limits: { project_model: { requests_per_minute: 100000000, tokens_per_minute: 1000000000 } }
models:
  - { id: bench, task: chat, deployments: [{ engine: openai-compatible, base_url: "${upstream}/v1", model: mock }] }
`;
  const replicas: Started[] = [];
  const directories: string[] = [];
  try {
    for (let count = 1; count <= REPLICAS; count += 1) {
      const directory = mkdtempSync(join(tmpdir(), "parlance-growth-"));
      directories.push(directory);
      replicas.push(await start(directory, config, { DATABASE_URL: url, REDIS_URL: redis.createDatabase().reveal() }));
      const load = { stream: false, connections: CONNECTIONS / count, seconds: 3 };
      await Promise.all(replicas.map((replica) => measure(replica, { ...load, seconds: 4 })));
      const measured = await Promise.all(replicas.map((replica) => measure(replica, load)));
      const perSecond = measured.reduce((sum, each) => sum + each.perSecond, 0);
      const cpu = measured.reduce((sum, each) => sum + each.cpuMicroseconds * each.perSecond, 0) / perSecond;
      const [first, last] = [replicas[0] as Started, replicas.at(-1) as Started];
      const revocations = [];
      for (let run = 0; run < 5; run += 1) revocations.push(await revocation(first, last));
      console.log(
        `replicas ${count}: ${Math.round(perSecond)}/s, ${cpu.toFixed(0)} µs of CPU a request, ` +
          `p99 ${Math.max(...measured.map((each) => each.p99Milliseconds)).toFixed(1)} ms, ` +
          `revocation ${median(revocations).toFixed(0)} ms, start ${last.startMs.toFixed(0)} ms, ` +
          `memory ${replicas.map((each) => each.residentMebibytes())} MiB`,
      );
    }
  } finally {
    for (const replica of replicas) await replica.stop();
    for (const directory of directories) rmSync(directory, { recursive: true });
    await redis[Symbol.asyncDispose]();
  }
}
