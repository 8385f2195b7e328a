import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { type ConfigSources, loadConfig } from "./load-config.ts";
import { reloadConfig } from "./reload-config.ts";

let sources: ConfigSources;

beforeEach(async () => {
  const workingDirectory = await mkdtemp(join(tmpdir(), "parlance-reload-"));
  sources = {
    environment: { PARLANCE_API_KEY: "k".repeat(32) },
    workingDirectory,
    deploymentSchemas: { scripted: z.strictObject({}) },
    builtinModels: [],
    manifestIds: [],
    engines: {},
  };
});

afterEach(() => rm(sources.workingDirectory, { recursive: true, force: true }));

function write(yaml: string): Promise<void> {
  return writeFile(join(sources.workingDirectory, "parlance.yaml"), yaml);
}

const models = (...ids: string[]) =>
  `models:\n${ids.map((id) => `  - { id: ${id}, task: chat, deployments: [{ engine: scripted }] }\n`).join("")}`;

test("applies new models and a new log level", async () => {
  await write(models("a"));
  const current = await loadConfig(sources);
  await write(`log_level: debug\nbuiltin_models: false\n${models("b", "c")}`);
  const reloaded = await reloadConfig(current, sources);
  if (!reloaded.isAccepted) throw new Error(reloaded.fault);
  expect(reloaded.config.models.map(({ id }) => id)).toEqual(["b", "c"]);
  expect(reloaded.config).toMatchObject({ logLevel: "debug", builtinModels: false });
  expect(reloaded.config.environment.PARLANCE_API_KEY?.reveal()).toBe("k".repeat(32));
  expect(reloaded.needsRestart).toEqual([]);
  expect(Object.isFrozen(reloaded.config)).toBe(true);
});

test("finds a file that did not exist at startup", async () => {
  const current = await loadConfig(sources);
  await write(models("a"));
  const reloaded = await reloadConfig(current, sources);
  expect(reloaded).toMatchObject({ isAccepted: true, config: { models: [{ id: "a" }] } });
});

test("rejects an empty or missing file instead of serving only the built-in models", async () => {
  await write(models("a"));
  const current = await loadConfig(sources);
  for (const nothing of ["", "\n", "# models:\n"]) {
    await write(nothing);
    const fault = expect.stringContaining("is empty; to serve only the built-in models");
    expect(await reloadConfig(current, sources)).toEqual({ isAccepted: false, fault });
  }
  await rm(join(sources.workingDirectory, "parlance.yaml"));
  const fault = expect.stringContaining("cannot be read: there is no such file");
  expect(await reloadConfig(current, sources)).toEqual({ isAccepted: false, fault });
  await write("builtin_models: true\n");
  expect(await reloadConfig(current, sources)).toMatchObject({ isAccepted: true, config: { models: [] } });
});

test("lists settings that need a restart, and keeps their old values", async () => {
  await write("server: { port: 8081 }\n");
  const current = await loadConfig(sources);
  await write(
    `server: { port: 8082, operations: { port: 9 }, max_body_bytes: 2048, database_grace_seconds: 1 }\nbatches: { max_lines: 2 }\ndata_directory: d\n${models("a")}`,
  );
  const reloaded = await reloadConfig(current, sources);
  if (!reloaded.isAccepted) throw new Error(reloaded.fault);
  expect(reloaded.needsRestart).toEqual([
    "server.port",
    "server.operations.host",
    "server.operations.port",
    "server.max_body_bytes",
    "server.database_grace_seconds",
    "batches.max_lines",
    "data_directory",
    "models_directory",
  ]);
  expect(reloaded.config.server).toEqual(current.server);
  expect(reloaded.config.dataDirectory).toBe(current.dataDirectory);
  expect(reloaded.config.models).toHaveLength(1);
});

test("rejects an invalid file with every error, and keeps the old configuration", async () => {
  await write(models("a"));
  const current = await loadConfig(sources);
  const before = JSON.stringify(current);
  await write(`log_levle: debug\n${models("a", "a")}`);
  const reloaded = await reloadConfig(current, sources);
  if (reloaded.isAccepted) throw new Error("It was accepted");
  expect(reloaded.fault).toContain("log_levle: is not a known key; did you mean log_level?");
  expect(reloaded.fault).toContain("models[1].id: is already used by models[0]");
  expect(JSON.stringify(current)).toBe(before);
});
