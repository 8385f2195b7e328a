/** PgBouncer in transaction mode for tests, if it is installed. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./redis.ts";

const PROGRAM = "pgbouncer";

export const HAS_PGBOUNCER: boolean = spawnSync(PROGRAM, ["--version"]).status === 0;
export const WITHOUT_PGBOUNCER: string = HAS_PGBOUNCER ? "" : " (skipped: no pgbouncer on this machine)";

export interface PgBouncer {
  urlOf(database: string): string;
  /** Sends clients to another server from now on. */
  pointTo(host: string): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts it in front of the PostgreSQL server whose socket is in the folder `host`, with the default settings. */
export async function startPgBouncer(host: string): Promise<PgBouncer> {
  const directory = mkdtempSync(join(tmpdir(), "parlance-pgbouncer-"));
  chmodSync(directory, 0o755);
  const port = await freePort();
  const file = join(directory, "pgbouncer.ini");
  const write = (to: string) =>
    writeFileSync(
      file,
      [
        `[databases]\n* = host=${to} user=parlance`,
        `[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
        // Fewer connections than clients: the transactions of one client run on different ones.
        "auth_type = any\npool_mode = transaction\ndefault_pool_size = 4\nserver_login_retry = 1\n",
      ].join("\n"),
    );
  write(host);
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const bouncer = spawn(PROGRAM, [...user, file], { stdio: ["ignore", "ignore", "pipe"] });
  await untilUp(bouncer);
  return {
    urlOf: (database) => `postgresql://parlance@127.0.0.1:${port}/${database}`,
    pointTo: (to) => {
      write(to);
      bouncer.kill("SIGHUP");
    },
    async [Symbol.asyncDispose]() {
      const isOver = new Promise((resolve) => bouncer.once("exit", resolve));
      bouncer.kill("SIGKILL");
      await isOver;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function untilUp(bouncer: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    bouncer.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-10_000);
      if (text.includes("process up")) resolve();
    });
    bouncer.once("exit", () => reject(new Error(`PgBouncer did not start: ${log}`)));
    bouncer.once("error", reject);
  });
}
