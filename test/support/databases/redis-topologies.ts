/** Redis as it is run in production, for tests: with TLS and an ACL user, behind Sentinels, and as a cluster. */

import { type ChildProcess, execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { createClient } from "@redis/client";
import { makeCertificates } from "../service/certificates.ts";
import { freePort, startRedisServer } from "./redis.ts";

const run = promisify(execFile);

export interface RedisTopology {
  /** Value of REDIS_URL. */
  url: string;
  /** Kills the server that holds the counters. */
  killPrimary(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Servers {
  directory: string;
  byPort: Map<number, ChildProcess>;
  /** Starts a server and returns its port. */
  start(settings: (port: number) => readonly string[]): Promise<number>;
  kill(port: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

function newServers(): Servers {
  const directory = mkdtempSync(join(tmpdir(), "parlance-redis-"));
  const byPort = new Map<number, ChildProcess>();
  const kill = async (port: number) => {
    const server = byPort.get(port);
    byPort.delete(port);
    if (server === undefined) return;
    const isOver = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await isOver;
  };
  return {
    directory,
    byPort,
    kill,
    async start(settings) {
      const port = await freePort();
      const folder = join(directory, String(port));
      mkdirSync(folder);
      byPort.set(port, await startRedisServer(folder, port, settings(port)));
      return port;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...byPort.keys()].map(kill));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const ACCOUNT = { username: "parlance", password: "counts-only" };

/** The permissions that docs/how-to/use-postgresql-and-redis.md names. */
const PERMISSIONS =
  "~{parlance}:* +evalsha +script|load +ping +time +@connection +exists +get +set +del +hget +hset +hdel +hexists +hlen +hkeys +hgetall +hincrby +hmget +hscan +lindex +lpop +rpush +lrange +pexpire";

/** One server that requires TLS, a client certificate and an ACL user. */
export async function startTlsRedis(): Promise<RedisTopology> {
  const servers = newServers();
  const { directory } = servers;
  await makeCertificates(directory);
  const file = (name: string) => join(directory, name);
  const port = await servers.start((each) => [
    ...["--port", "0", "--tls-port", String(each), "--tls-auth-clients", "yes"],
    ...[
      "--tls-cert-file",
      file("server.pem"),
      "--tls-key-file",
      file("server.key"),
      "--tls-ca-cert-file",
      file("ca.pem"),
    ],
    ...[
      "--user",
      "default",
      "off",
      "--user",
      ACCOUNT.username,
      "on",
      `>${ACCOUNT.password}`,
      ...PERMISSIONS.split(" "),
    ],
  ]);
  const query = `ssl_ca_certs=${file("ca.pem")}&ssl_certfile=${file("client.pem")}&ssl_keyfile=${file("client.key")}`;
  return {
    url: `rediss://${ACCOUNT.username}:${ACCOUNT.password}@127.0.0.1:${port}?${query}`,
    killPrimary: () => servers.kill(port),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

/** Makes a replica complete at once; by default, it starts after 5 seconds, and cannot take over before. */
const SYNC_AT_ONCE = ["--repl-diskless-sync-delay", "0"];

/** A primary, two replicas and three Sentinels that replace the primary after a second. */
export async function startSentinels(): Promise<RedisTopology> {
  const servers = newServers();
  let primary = await servers.start(() => SYNC_AT_ONCE);
  for (let replica = 0; replica < 2; replica += 1) {
    await servers.start(() => [...SYNC_AT_ONCE, "--replicaof", "127.0.0.1", String(primary)]);
  }
  const sentinels: number[] = [];
  for (let sentinel = 0; sentinel < 3; sentinel += 1) {
    sentinels.push(
      await servers.start((port) => {
        const file = join(servers.directory, `${port}.conf`);
        const settings = ["down-after-milliseconds main 1000", "failover-timeout main 5000", "parallel-syncs main 1"];
        const lines = [`monitor main 127.0.0.1 ${primary} 2`, ...settings].map((each) => `sentinel ${each}`);
        writeFileSync(file, `port ${port}\nbind 127.0.0.1\n${lines.join("\n")}\n`);
        return [file, "--sentinel"];
      }),
    );
  }
  await untilReplicated(primary, 2);
  return {
    url: `redis-sentinel://${sentinels.map((port) => `127.0.0.1:${port}`).join(",")}/0#main`,
    async killPrimary() {
      primary = Number((await ask(sentinels[0] ?? 0, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"]))[1]);
      await servers.kill(primary);
    },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

/** Three primaries with a replica each. */
export async function startRedisCluster(): Promise<RedisTopology> {
  const servers = newServers();
  const ports: number[] = [];
  for (let node = 0; node < 6; node += 1) {
    ports.push(
      await servers.start((port) => [
        ...SYNC_AT_ONCE,
        ...["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"],
        // The default, port + 10,000, may not exist.
        ...["--cluster-port", String(port > 55_000 ? port - 10_000 : port + 10_000)],
      ]),
    );
  }
  const nodes = ports.map((port) => `127.0.0.1:${port}`);
  await run("redis-cli", ["--cluster", "create", ...nodes, "--cluster-replicas", "1", "--cluster-yes"]);
  for (const port of ports.slice(0, 3)) await untilReplicated(port, 1);
  return {
    url: `redis-cluster://${nodes.slice(0, 3).join(",")}`,
    async killPrimary() {
      const [asked = 0] = servers.byPort.keys();
      const slot = Number(await ask(asked, ["CLUSTER", "KEYSLOT", "{parlance}"]));
      const ranges = (await ask(asked, ["CLUSTER", "SLOTS"])) as unknown as [number, number, [string, number]][];
      const owner = ranges.find(([start, end]) => start <= slot && slot <= end)?.[2][1] ?? 0;
      await servers.kill(owner);
    },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

async function untilReplicated(port: number, replicas: number): Promise<void> {
  const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
  try {
    for (;;) {
      const online = (await client.info("replication")).match(/state=online/g)?.length ?? 0;
      const isDown = /cluster_state:fail/.test(String(await client.sendCommand(["CLUSTER", "INFO"]).catch(() => "")));
      if (online === replicas && !isDown) return;
      await pause(50);
    }
  } finally {
    client.destroy();
  }
}

async function ask(port: number, words: string[]): Promise<string[]> {
  const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
  try {
    return (await client.sendCommand(words)) as unknown as string[];
  } finally {
    client.destroy();
  }
}
