/** A Redis (or Valkey) server for tests, if one is installed. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "../../../src/kernel/secret.ts";

const PROGRAM = ["redis-server", "valkey-server"].find((each) => spawnSync(each, ["--version"]).status === 0);

/** True if redis-server is installed. Tests that need it are otherwise skipped, as their titles say. */
export const HAS_REDIS: boolean = PROGRAM !== undefined;
export const WITHOUT_REDIS: string = HAS_REDIS ? "" : " (skipped: no redis-server on this machine)";

export interface RedisServer {
  /** URL of an empty database. */
  createDatabase(): Secret;
  /** Stops it; its data is lost. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** The process, to be paused and resumed. */
  signal(signal: NodeJS.Signals): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRedis(): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), "parlance-redis-"));
  const port = await freePort();
  let server: ChildProcess | undefined;
  let databases = 0;
  const start = async () => {
    server = await startRedisServer(directory, port, ["--databases", "64"]);
  };
  const stop = async () => {
    const running = server;
    server = undefined;
    if (running === undefined) return;
    const isOver = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGKILL");
    await isOver;
  };
  await start();
  return {
    createDatabase: () => {
      databases += 1;
      return new Secret(`redis://127.0.0.1:${port}/${databases}`);
    },
    start,
    stop,
    signal: (signal) => server?.kill(signal),
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Resolves once a server with these further settings accepts connections. */
export function startRedisServer(directory: string, port: number, more: readonly string[] = []): Promise<ChildProcess> {
  const settings = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--dir", directory];
  // A configuration file has to be first.
  const isFile = more[0]?.startsWith("--") === false;
  const server = spawn(PROGRAM ?? "redis-server", isFile ? [...more, "--dir", directory] : [...settings, ...more], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    let log = "";
    server.stdout?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-10_000);
      if (/ready to accept connections|sentinel id is/i.test(text)) resolve(server);
    });
    server.once("exit", () => reject(new Error(`Redis did not start: ${log}`)));
    server.once("error", reject);
  });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
