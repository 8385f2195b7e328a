import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join, resolve } from "node:path";
import BetterSqlite from "better-sqlite3";
import { create } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runParlance } from "../../test/support/service/run-parlance.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { announceService } from "../kernel/process/service-file.ts";
import { openLog } from "../observability/open-log.ts";
import { openDatabase } from "../storage/database.ts";

const INSTALL = resolve(import.meta.dirname, "../../deploy/install/install.sh");
const SYSTEM = `${process.platform}-${process.arch}`;

let folder: TemporaryDirectory;
let service: Server;
let announced: Disposable;
/** Called when the running version is asked whether it is ready. */
let isReady: (version: string) => boolean;
const home = () => join(folder.path, "home");
const data = () => join(home(), "service/data");
const running = async () => basename(await readlink(join(home(), "current")));
const named = (version: string) => `parlance-${version}-${SYSTEM}`;

beforeEach(async () => {
  folder = await temporaryDirectory();
  await mkdir(data(), { recursive: true });
  await mkdir(join(folder.path, "bin"));
  await mkdir(join(folder.path, "releases"));
  await writeProgram(join(folder.path, "bin/systemctl"), 'echo "$@" >>"$CALLS"');
  await mkdir(join(home(), "versions"));
  await version("0.1.0", join(home(), "versions"));
  await symlink(join(home(), "versions", named("0.1.0")), join(home(), "current"));
  isReady = () => true;
  service = createServer(async (request, response) => {
    const current = request.url === "/health/ready" ? await running() : "";
    response.writeHead(current === "" || isReady(current) ? 200 : 503).end("{}");
  }).listen(0, "127.0.0.1");
  await new Promise((done) => service.once("listening", done));
  announced = announceService(data(), `http://127.0.0.1:${(service.address() as AddressInfo).port}`);
  const migrated = openDatabase({ url: undefined, file: join(data(), "parlance.sqlite"), logger: openLog("error") });
  await migrated.migrate();
  await migrated.close();
  database((sqlite) => sqlite.exec("create table notes (text text); insert into notes values ('before')"));
});
afterEach(async () => {
  announced[Symbol.dispose]();
  service.close();
  service.closeAllConnections();
  await folder[Symbol.asyncDispose]();
});

async function writeProgram(file: string, text: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
}

/** Writes the folder of a version. */
async function version(number: string, parent: string): Promise<string> {
  const bin = join(parent, named(number), "bin");
  await mkdir(bin, { recursive: true });
  await writeProgram(join(bin, "parlance"), `echo parlance ${number}`);
  await cp(INSTALL, join(parent, named(number), "install.sh"));
  return named(number);
}

async function release(number: string): Promise<void> {
  const releases = join(folder.path, "releases");
  const name = await version(number, folder.path);
  const file = join(releases, `${name}.tar.gz`);
  await create({ cwd: folder.path, gzip: true, file }, [name]);
  const hash = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  await writeFile(join(releases, "SHA256SUMS"), `${hash}  ${name}.tar.gz\n`);
}

function database<Result>(work: (sqlite: BetterSqlite.Database) => Result): Result {
  const sqlite = new BetterSqlite(join(data(), "parlance.sqlite"));
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

const notes = () => database((sqlite) => sqlite.prepare("select text from notes").pluck().all());
const calls = async () => (await readFile(join(folder.path, "calls"), "utf8")).trim().split("\n");

function upgrade(...words: readonly string[]) {
  return runParlance(["upgrade", "--from", join(folder.path, "releases"), ...words], {
    cwd: join(home(), "service"),
    environment: {
      PATH: `${join(folder.path, "bin")}:/usr/bin:/bin`,
      HOME: folder.path,
      PARLANCE_HOME: home(),
      PARLANCE_DATA_DIR: data(),
      PARLANCE_LAUNCHER: join(folder.path, "bin/parlance"),
      CALLS: join(folder.path, "calls"),
    },
  });
}

test("replaces the version, restarts the service, and keeps a backup of the database", async () => {
  await release("0.2.0");
  const { code, stdout, stderr } = await upgrade();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(`${named("0.2.0")} is ready.\n`);
  expect(await running()).toBe(named("0.2.0"));
  expect(await calls()).toEqual(["--user is-active --quiet parlance.service", "--user restart parlance.service"]);
  const backup = new BetterSqlite(join(home(), "service/before-upgrade.sqlite"), { readonly: true });
  expect(backup.prepare("select text from notes").pluck().all()).toEqual(["before"]);
  backup.close();
});

test("goes back to the version and the database of before when the new one does not become ready", async () => {
  await release("0.2.0");
  isReady = (current) => {
    if (current === named("0.1.0")) return true;
    database((sqlite) => sqlite.exec("insert into notes values ('by the new version')"));
    return false;
  };
  const { code, stderr } = await upgrade("--ready-within", "1s");
  expect(stderr).toContain(`${named("0.2.0")} did not become ready within 1 seconds: ${named("0.1.0")} runs again`);
  expect(code).toBe(1);
  expect(await running()).toBe(named("0.1.0"));
  expect((await calls()).slice(1)).toEqual([
    "--user restart parlance.service",
    "--user stop parlance.service",
    "--user start parlance.service",
  ]);
  expect(notes()).toEqual(["before"]);
});

test("changes nothing where the download is broken, and says so", async () => {
  await release("0.2.0");
  await writeFile(join(folder.path, "releases", `${named("0.2.0")}.tar.gz`), "broken");
  const { code, stderr } = await upgrade();
  expect(stderr).toContain(`${named("0.1.0")} stays`);
  expect(code).toBe(1);
  expect(await running()).toBe(named("0.1.0"));
});

test("says that the newest version is installed already", async () => {
  await release("0.1.0");
  expect(await upgrade()).toMatchObject({ code: 0, stdout: `${named("0.1.0")} is already installed.\n` });
});

test("tells to start a service again that systemd does not run", async () => {
  await release("0.2.0");
  await writeProgram(join(folder.path, "bin/systemctl"), "exit 3");
  expect(await upgrade()).toMatchObject({
    code: 0,
    stdout: `${named("0.2.0")} is installed. Start the service again.\n`,
  });
});

test("says how to upgrade what install.sh did not install", async () => {
  await rm(join(home(), "current"));
  const { code, stderr } = await upgrade();
  expect(stderr).toContain("In a checkout, pull and run `npm ci`");
  expect(code).toBe(1);
});
