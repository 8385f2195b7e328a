import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { HubServer } from "../../test/support/models/hub-server.ts";
import { spawnParlance } from "../../test/support/service/run-parlance.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "parlance-cli-"));
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

test("--version prints the version and its stage", async () => {
  const { code, stdout } = await spawnParlance(["--version"], { cwd });
  expect(stdout).toBe(`parlance ${packageJson.version} (Beta)\n`);
  expect(code).toBe(0);
});

test("models pull before the first start creates a data directory that is private to its owner", async () => {
  const hub = await HubServer.start();
  hub.add("owner/repo/resolve/main/small.gguf", randomBytes(1234));
  const data = join(cwd, "data");
  const environment = { PARLANCE_DATA_DIR: data, HF_ENDPOINT: hub.endpoint, NO_PROXY: "127.0.0.1" };
  const { code, stderr } = await spawnParlance(["models", "pull", "hf:owner/repo/small.gguf"], { cwd, environment });
  expect(code, stderr).toBe(0);
  expect(((await stat(data)).mode & 0o777).toString(8)).toBe("700");
  await hub[Symbol.asyncDispose]();
});

test.each([[["--help"]], [["help"]]])("%j lists the commands", async (words) => {
  const { code, stdout } = await spawnParlance(words, { cwd });
  for (const name of ["serve", "models", "keys", "config"]) expect(stdout).toMatch(new RegExp(`^ +${name} `, "m"));
  expect(code).toBe(0);
});

test.each([[["keys", "--help"]], [["help", "keys"]]])("%j lists the subcommands", async (words) => {
  const { code, stdout } = await spawnParlance(words, { cwd });
  for (const name of ["create", "list", "revoke"]) expect(stdout).toMatch(new RegExp(`^ +${name} `, "m"));
  expect(code).toBe(0);
});

test.each([
  [[], "Usage: parlance"],
  [["confg"], "(Did you mean config?)"],
  [["config", "chek"], "(Did you mean check?)"],
  [["config", "check", "--jsn"], "(Did you mean --json?)"],
  [["config", "check", "a", "b"], "too many arguments"],
  [["keys", "revoke"], "missing required argument 'key'"],
  [["keys", "create"], "Run parlance keys create --help for its options."],
  [["keys", "creat"], "Run parlance keys --help for a list of its commands."],
  [["keys", "create", "--expires-in", "soon"], "must be a number followed by s, m, h, d or w"],
  [["keys", "create", "--expires-in", "0d"], "must be a number followed by s, m, h, d or w"],
  [["serve", "now"], "too many arguments"],
])("exits with 2 and a message for wrong usage: %j", async (words, message) => {
  const { code, stdout, stderr } = await spawnParlance(words, { cwd });
  expect(stderr).toContain(message);
  expect(stdout).toBe("");
  expect(code).toBe(2);
});

describe("config check", () => {
  const model = "{ id: a, task: chat, deployments: [{ engine: scripted, echo: true }] }";

  test("describes a valid configuration", async () => {
    await writeFile(join(cwd, "parlance.yaml"), `models: [${model}]\n`);
    const { code, stdout } = await spawnParlance(["config", "check"], { cwd, environment: { PARLANCE_PORT: "9" } });
    expect(stdout).toContain("parlance.yaml: valid");
    expect(stdout).toContain("port 9");
    expect(stdout).toContain("1 model from the file and the built-in ones");
    expect(code).toBe(0);
  });

  test("prints the configuration as JSON", async () => {
    await writeFile(join(cwd, "parlance.yaml"), `models: [${model}]\n`);
    const { code, stdout } = await spawnParlance(["config", "check", "--json"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      port: 8080,
      models: [{ id: "a", task: "chat", engines: ["scripted"] }],
    });
    expect(code).toBe(0);
  });

  test("prints every error of the given file without a stack trace or secrets, and exits with 1", async () => {
    await writeFile(join(cwd, "other.yaml"), `log_level: \${KEY}\nmodels: [${model}, ${model}]\n`);
    const environment = { KEY: "sk-very-secret", PARLANCE_API_KEY: "sk-too-short" };
    const { code, stdout, stderr } = await spawnParlance(["config", "check", "other.yaml"], { cwd, environment });
    expect(stderr).toMatch(/^error: The configuration has 3 errors\.$/m);
    expect(stderr).toContain("PARLANCE_API_KEY: must be 32 to 512");
    expect(stderr).toContain("log_level: must be one of");
    expect(stderr).toContain("models[1].id: is already used by models[0] (line 2)");
    expect(stderr).not.toMatch(/^ +at |sk-/m);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });

  test("warns about a variable that has no effect", async () => {
    const environment = { REDIS_URL: "redis://cache:6379" };
    const { code, stderr } = await spawnParlance(["config", "check"], { cwd, environment });
    expect(stderr).toMatch(/^warning: REDIS_URL /);
    expect(code).toBe(0);
  });
});

test("config schema prints a JSON Schema with every engine", async () => {
  const { code, stdout } = await spawnParlance(["config", "schema"], { cwd });
  const { anyOf } = JSON.parse(stdout).properties.models.items.properties.deployments.items;
  const engines = anyOf.map((each: { properties: { engine: { const: string } } }) => each.properties.engine.const);
  expect(engines).toEqual(expect.arrayContaining(["openai-compatible", "scripted"]));
  expect(code).toBe(0);
});

test("exits silently when the reader closes the pipe", async () => {
  const executable = resolve(import.meta.dirname, "parlance.ts");
  const script = `{ "$0" "$1" config schema; echo "code $?" >&2; } | true`;
  const { stderr } = await promisify(execFile)("sh", ["-c", script, process.execPath, executable], { cwd });
  expect(stderr).toBe("code 0\n");
});

test.skipIf(process.platform !== "linux")("exits with 1 when standard output cannot be written", async () => {
  const executable = resolve(import.meta.dirname, "parlance.ts");
  const script = `"$0" "$1" config schema >/dev/full; echo "code $?" >&2`;
  const { stderr } = await promisify(execFile)("sh", ["-c", script, process.execPath, executable], { cwd });
  expect(stderr).toBe("error: Cannot write to standard output (ENOSPC).\ncode 1\n");
});

test("exits with 1 and no stack trace for a Fault", async () => {
  const { code, stderr } = await spawnParlance(["serve"], { cwd, environment: { PARLANCE_PORT: "x" } });
  expect(stderr).toMatch(/^error: The configuration has 1 error\.\nIn the environment:\n {2}PARLANCE_PORT: must be/);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(code).toBe(1);
});
