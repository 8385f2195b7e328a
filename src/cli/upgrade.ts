/** `parlance upgrade`: replaces the version that install.sh installed, and goes back when the new one does not become ready. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readlink, rename, rm, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Command } from "commander";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { until } from "../kernel/async/retry.ts";
import { Fault } from "../kernel/faults.ts";
import { databaseAddress } from "../storage/configured-database.ts";
import { backUpSqlite, restoreSqlite } from "../storage/sqlite-backup.ts";
import { isAutostarted, systemctl, UNIT } from "./autostart.ts";
import { configSources } from "./config-sources.ts";
import { parseSeconds } from "./parse-seconds.ts";
import { answeringOrigin } from "./with-administration.ts";

interface UpgradeOptions {
  from: string;
  to?: string;
  key?: string;
  readyWithin: number;
}

/** A large database is migrated, and models are loaded, before the service is ready. */
const READY_SECONDS = 300;
const POLL_MS = 500;

export function upgradeCommand(): Command {
  return new Command("upgrade")
    .requiredOption("--from <address>", "folder of the releases: an https address or a path")
    .option("--to <version>", "instead of the newest version there")
    .option("--key <file>", "public key (PEM) with which the release is verified")
    .option("--ready-within <time>", "time that the new version has to become ready", parseSeconds, READY_SECONDS)
    .addHelpText(
      "after",
      "\nBacks up the database (SQLite), and restarts a service that `parlance autostart` started. When the new version does not become ready, the one before runs again, with the database of before.",
    )
    .action(upgrade);
}

async function upgrade(options: UpgradeOptions): Promise<void> {
  const home = installation();
  const current = join(home, "current");
  const before = await readlink(current).catch(() => undefined);
  if (before === undefined) {
    const message = `There is no installation by install.sh in ${home}. In a checkout, pull and run \`npm ci\`; with containers, replace the image.`;
    throw new Fault("not-found", message);
  }
  const config = await loadConfig(configSources());
  const backup = await backUp(config, join(home, "service", "before-upgrade.sqlite"));
  await install(before, options);
  const after = await readlink(current);
  if (after === before) return console.log(`${basename(before)} is already installed.`);
  if (!(await isAutostarted())) return console.log(`${basename(after)} is installed. Start the service again.`);
  await systemctl("restart", UNIT);
  if (await becomesReady(config, options.readyWithin)) return console.log(`${basename(after)} is ready.`);
  await goBack({ config, current, before, backup });
  const message = `${basename(after)} did not become ready within ${options.readyWithin} seconds: ${basename(before)} runs again, with the database of before. See \`journalctl --user -u ${UNIT}\`; --ready-within gives it more time.`;
  throw new Fault("unavailable", message);
}

function installation(): string {
  const { PARLANCE_HOME: home, XDG_DATA_HOME: data } = process.env;
  return home ?? join(data ?? join(homedir(), ".local/share"), "parlance");
}

/** Resolves with the backup; undefined without a database, and for PostgreSQL, which its operator backs up. */
async function backUp(config: Config, target: string): Promise<string | undefined> {
  const { url, file } = databaseAddress(config);
  if (url !== undefined || !existsSync(file)) return undefined;
  await rm(target, { force: true });
  await backUpSqlite(file, target);
  return target;
}

/** Throws a Fault when install.sh, which has said why, changed nothing. */
async function install(before: string, { from, to, key }: UpgradeOptions): Promise<void> {
  const { PARLANCE_LAUNCHER: launcher } = process.env;
  const words = [join(before, "install.sh"), "--from", from];
  if (to !== undefined) words.push("--version", to);
  if (key !== undefined) words.push("--key", key);
  if (before.endsWith("-gateway")) words.push("--without-local");
  const env = { ...process.env, ...(launcher && { PARLANCE_BIN: dirname(launcher) }) };
  const child = spawn("sh", words, { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Fault("unavailable", `${basename(before)} stays: the new version could not be installed.`);
}

async function becomesReady({ dataDirectory }: Config, seconds: number): Promise<boolean> {
  const isReady = async () => {
    const origin = await answeringOrigin(dataDirectory);
    return origin !== undefined && (await fetch(`${origin}/health/ready`).catch(() => undefined))?.ok;
  };
  return (await until(isReady, { everyMs: POLL_MS, timeoutMs: seconds * 1000 })) === true;
}

interface Before {
  config: Config;
  current: string;
  before: string;
  backup: string | undefined;
}

async function goBack({ config, current, before, backup }: Before): Promise<void> {
  await systemctl("stop", UNIT);
  const link = `${current}.before`;
  await rm(link, { force: true });
  await symlink(before, link);
  await rename(link, current);
  if (backup !== undefined) await restoreSqlite(backup, databaseAddress(config).file);
  await systemctl("start", UNIT);
}
