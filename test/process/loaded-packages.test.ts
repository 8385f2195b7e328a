import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageName } from "../../scripts/pack/packed-manifest.ts";
import { ROOT } from "../support/service/executable.ts";
import { startServiceProcess } from "../support/service/service-process.ts";

/** Dependencies that a start with the default configuration loads; what only an option or a request needs comes later. */
const LOADED = [
  ...["@fastify/busboy", "@fastify/cors", "@fastify/static", "@fastify/websocket", "@opentelemetry/api"],
  ...["better-sqlite3", "cockatiel", "commander", "cookie", "dataloader", "eventsource-parser"],
  ...["fastest-levenshtein", "fastify", "ipaddr.js", "kysely", "lru-cache", "modern-ahocorasick", "p-limit", "pino"],
  ...["prom-client", "secure-json-parse", "undici", "yaml", "zod"],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parlance-modules-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a start with the default configuration loads these dependencies only", async () => {
  const file = join(folder, "modules");
  const recorder = new URL("../support/service/record-modules.ts", import.meta.url).href;
  const service = await startServiceProcess({
    config: "local: { load: on_demand }\n",
    // In a bundle, the modules of a package have no file names.
    executable: join(ROOT, "src/cli/parlance.ts"),
    environment: { NODE_OPTIONS: `--import ${recorder}`, PARLANCE_TEST_MODULES: file },
    until: "listening",
  });
  await service.stop();
  const modules = readFileSync(file, "utf8").split("\n");
  const packages = new Set(modules.map(packageName));
  const dependencies = dependenciesOf(["package.json", ...globSync("packages/*/package.json", { cwd: ROOT })]);
  expect([...packages].filter((name) => dependencies.has(name)).sort()).toEqual(LOADED);
  // Its index loads fetch, WebSocket, mocks and caches (src/kernel/outgoing/undici.ts).
  expect(modules).not.toContain("undici/index.js");
  // Fastify's compilers of JSON schemas, which no route has (src/http/bare-server.ts).
  expect(packages).not.toContain("ajv");
});

function dependenciesOf(manifests: readonly string[]): Set<string> {
  return new Set(
    manifests.flatMap((file) => {
      const manifest = JSON.parse(readFileSync(join(ROOT, file), "utf8")) as { dependencies?: object };
      return Object.keys(manifest.dependencies ?? {});
    }),
  );
}
