/** install.sh with small archives, whose program says its version. test/long/installation.test.ts installs a real one. */

import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";

const SCRIPT = join(import.meta.dirname, "install.sh");
const SYSTEM = `${platform()}-${arch()}`;

let folder: TemporaryDirectory;
let releases: string;
let home: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
  releases = join(folder.path, "releases");
  home = join(folder.path, "home");
  await mkdir(releases);
  await mkdir(home);
});

afterEach(() => folder[Symbol.asyncDispose]());

async function release(version: string, variant = "", program = `echo parlance ${version}`): Promise<void> {
  const name = `parlance-${version}-${SYSTEM}${variant}`;
  const bin = join(folder.path, name, "bin");
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, "parlance"), `#!/bin/sh\n${program}\n`);
  await chmod(join(bin, "parlance"), 0o755);
  const file = join(releases, `${name}.tar.gz`);
  await create({ cwd: folder.path, gzip: true, file }, [name]);
  await addChecksum(`${name}.tar.gz`);
}

async function addChecksum(name: string): Promise<void> {
  const hash = createHash("sha256")
    .update(await readFile(join(releases, name)))
    .digest("hex");
  const sums = join(releases, "SHA256SUMS");
  await writeFile(sums, `${existsSync(sums) ? await readFile(sums, "utf8") : ""}${hash}  ${name}\n`);
}

function install(...options: readonly string[]): Promise<{ code: number; output: string }> {
  return run("sh", [SCRIPT, ...options]);
}

function run(program: string, words: readonly string[]): Promise<{ code: number; output: string }> {
  const env = { HOME: home, PATH: process.env.PATH ?? "" };
  return new Promise((resolve) => {
    execFile(program, words, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

const root = () => join(home, ".local/share/parlance");
const command = () => join(home, ".local/bin/parlance");
const versions = () => readdir(join(root(), "versions"));

test("installs the newest version, for this user only, and says what to do", async () => {
  await release("0.9.0");
  await release("0.10.0");
  const { code, output } = await install("--from", releases);
  expect(output).toContain(`parlance 0.10.0 is installed in ${root()}.`);
  expect(output).toContain(`export PATH="${join(home, ".local/bin")}:$PATH"`);
  expect(code).toBe(0);
  expect((await run(command(), [])).output).toBe("parlance 0.10.0\n");
  expect((await readdir(root())).toSorted()).toEqual(["current", "service", "versions"]);
});

test("updates in place, keeps the data and the version before, and goes back to it", async () => {
  await release("0.1.0");
  await install("--from", releases);
  await writeFile(join(root(), "service/parlance.yaml"), "models: []\n");
  await release("0.2.0");
  await install("--from", releases);
  await release("0.3.0");
  await install("--from", releases);
  expect((await run(command(), [])).output).toBe("parlance 0.3.0\n");
  expect(await versions()).toEqual([`parlance-0.2.0-${SYSTEM}`, `parlance-0.3.0-${SYSTEM}`]);
  await install("--from", releases, "--version", "0.2.0");
  expect((await run(command(), [])).output).toBe("parlance 0.2.0\n");
  expect(await readFile(join(root(), "service/parlance.yaml"), "utf8")).toBe("models: []\n");
});

test("installs the archive without local models where it is asked for", async () => {
  await release("0.1.0");
  await release("0.1.0", "-gateway", "echo parlance gateway");
  await install("--from", releases, "--without-local");
  expect(await versions()).toEqual([`parlance-0.1.0-${SYSTEM}-gateway`]);
});

describe("the default models of a release", () => {
  /** Notes what it is called with, and stores a model as `models import` does. */
  const PROGRAM = 'echo "$@" >> "$HOME/calls"; [ "$2" != import ] || mkdir -p .parlance/models/small';
  const imports = async () =>
    (await readFile(join(home, "calls"), "utf8")).split("\n").filter((line) => /^models/.test(line));

  beforeEach(async () => {
    await release("0.1.0", "", PROGRAM);
    await release("0.1.0", "-gateway", PROGRAM);
    await writeFile(join(releases, "parlance-0.1.0-models.tar"), "weights");
    await addChecksum("parlance-0.1.0-models.tar");
  });

  test("come with the installation, once", async () => {
    expect(await install("--from", releases)).toMatchObject({ code: 0 });
    expect(await imports()).toEqual([expect.stringMatching(/^models import .*\/parlance-0.1.0-models.tar$/)]);
    expect(await readdir(join(root(), "service/.parlance/models"))).toEqual(["small"]);
    await release("0.2.0", "", PROGRAM);
    await writeFile(join(releases, "parlance-0.2.0-models.tar"), "weights");
    await addChecksum("parlance-0.2.0-models.tar");
    await install("--from", releases);
    expect(await versions()).toHaveLength(2);
    expect(await imports()).toHaveLength(1);
    expect((await readdir(root())).toSorted()).toEqual(["current", "service", "versions"]);
  });

  test.each(["--without-models", "--without-local"])("stay away with %s", async (option) => {
    expect(await install("--from", releases, option)).toMatchObject({ code: 0 });
    expect(await imports()).toEqual([]);
  });

  test("are refused when they were changed", async () => {
    await writeFile(join(releases, "parlance-0.1.0-models.tar"), "others");
    const { code, output } = await install("--from", releases);
    expect(output).toContain("parlance-0.1.0-models.tar is not complete, or was changed: its checksum differs.");
    expect(code).toBe(1);
    expect(existsSync(command())).toBe(false);
  });
});

test.each([
  [
    "that was cut off",
    async (file: string) => writeFile(file, (await readFile(file)).subarray(0, 60)),
    "checksum differs",
  ],
  ["that was changed", async (file: string) => writeFile(file, "another program"), "checksum differs"],
  ["that is missing", async (file: string) => rm(file), "could not be read"],
])("leaves the installed version where it is with an archive %s", async (_what, spoil, message) => {
  await release("0.1.0");
  await install("--from", releases);
  await release("0.2.0");
  await spoil(join(releases, `parlance-0.2.0-${SYSTEM}.tar.gz`));
  const { code, output } = await install("--from", releases);
  expect(output).toContain(message);
  expect(code).toBe(1);
  expect((await run(command(), [])).output).toBe("parlance 0.1.0\n");
  expect((await readdir(root())).toSorted()).toEqual(["current", "service", "versions"]);
});

test("does not install a program that does not run here", async () => {
  await release("0.1.0", "", "exit 1");
  const { code, output } = await install("--from", releases);
  expect(output).toContain("The program does not run on this machine. Nothing was changed.");
  expect(code).toBe(1);
  expect(await readdir(home, { recursive: true })).toEqual([".local", ".local/share"]);
});

test("names a full disk", async () => {
  // Bytes that gzip cannot shorten, above the limit of a file's size.
  const noise = createHash("shake256", { outputLength: 200_000 }).update("noise").digest("hex");
  await release("0.1.0", "", `exit 0\n${noise}`);
  const limited = `ulimit -f 100; exec sh ${SCRIPT} --from ${releases}`;
  const { code, output } = await run("sh", ["-c", limited]);
  expect(output).toMatch(/could not be (read|unpacked)|checksum differs|File size limit/);
  expect(code).not.toBe(0);
  expect(await readdir(home, { recursive: true })).toEqual([".local", ".local/share"]);
});

test("verifies the signature of the checksums", async () => {
  await release("0.1.0");
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = join(folder.path, "key.pem");
  await writeFile(key, publicKey.export({ type: "spki", format: "pem" }));
  const signature = sign("sha256", await readFile(join(releases, "SHA256SUMS")), privateKey);
  await writeFile(join(releases, "SHA256SUMS.sig"), signature);
  expect(await install("--from", releases, "--key", key)).toMatchObject({ code: 0 });
  await release("0.2.0");
  const refused = await install("--from", releases, "--key", key);
  expect(refused.output).toContain(`The signature of SHA256SUMS is not that of ${key}. Nothing was changed.`);
  expect(refused.code).toBe(1);
  expect((await run(command(), [])).output).toBe("parlance 0.1.0\n");
});

test("uninstalls without a trace, but for the data, unless --with-data says so", async () => {
  await release("0.1.0");
  await install("--from", releases);
  await writeFile(join(root(), "service/parlance.yaml"), "models: []\n");
  const first = await install("--uninstall");
  expect(first.output).toContain(`The data stays in ${root()}/service`);
  expect(await readdir(root())).toEqual(["service"]);
  expect(await readlink(command()).catch(() => undefined)).toBeUndefined();
  await install("--uninstall", "--with-data");
  expect(existsSync(root())).toBe(false);
});

test("leaves another program of the name at its uninstallation", async () => {
  await release("0.1.0");
  await install("--from", releases);
  await rm(command());
  await writeFile(command(), "another program");
  await install("--uninstall");
  expect(await readFile(command(), "utf8")).toBe("another program");
});

test("does not replace another program of the name", async () => {
  await release("0.1.0");
  await mkdir(join(home, ".local/bin"), { recursive: true });
  await writeFile(command(), "another program");
  const { code, output } = await install("--from", releases);
  expect(output).toContain(`${command()} is another program.`);
  expect(code).toBe(1);
  expect(await readFile(command(), "utf8")).toBe("another program");
});

test.each([
  [["--from", "/nowhere"], "/nowhere/SHA256SUMS could not be read"],
  [[], "Name the folder with the archives: --from"],
  [["--form", "x"], "Unknown option --form"],
  [["--from"], "--from needs a value"],
])("explains %j", async (options, message) => {
  const { code, output } = await install(...options);
  expect(output).toContain(message);
  expect(code).toBe(1);
});

test("names the version that is not there", async () => {
  await release("0.1.0");
  const { output } = await install("--from", releases, "--version", "9.9.9");
  expect(output).toContain(`${releases} has no archive of 9.9.9 for ${SYSTEM}.`);
});
