import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CARGO_CLIENT_VERSIONS } from "./cargo-clients.ts";
import { programPins } from "./client-programs.ts";
import { CLIENTS_PAGE, readChecks, renderClientsTable } from "./clients-table.ts";
import { nodeClientVersion } from "./node-client-version.ts";
import { isNpmClient, NPM_CLIENT_VERSIONS } from "./npm-client-versions.ts";
import { PYTHON_SCRIPTS } from "./python-clients.ts";
import { readRecordings } from "./recordings.ts";

const UPDATE = "run `UPDATE_CLIENTS=1 npm run test:clients`";
const checks = await readChecks();

test("the page of clients shows the last results", async () => {
  expect(await readFile(CLIENTS_PAGE, "utf8"), UPDATE).toBe(renderClientsTable(checks));
});

test("the results are those of the pinned versions", async () => {
  const files = (await readdir(PYTHON_SCRIPTS)).filter((name) => name.startsWith("requirements"));
  const texts = await Promise.all(files.map((file) => readFile(join(PYTHON_SCRIPTS, file), "utf8")));
  const pins = new Map(
    texts.flatMap((text) => [...text.matchAll(/^([\w-]+)\S*==(\S+)$/gm)].map(([, name, pin]) => [name, pin])),
  );
  const programs = await programPins();
  for (const { client, version } of checks) {
    const pin = isNpmClient(client)
      ? NPM_CLIENT_VERSIONS[client]
      : (CARGO_CLIENT_VERSIONS.get(client) ??
        pins.get(client.replace(/ in Chromium$| \(traces\)$/, "")) ??
        programs.get(client) ??
        nodeClientVersion(client));
    expect(version, `${client}: ${UPDATE}`).toBe(pin);
  }
});

test("the recordings are those of the versions in the results", async () => {
  for (const { client, version } of await readRecordings()) {
    expect(checks.find((check) => check.client === client)?.version, `${client}: ${UPDATE}`).toBe(version);
  }
});
