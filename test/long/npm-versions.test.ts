/** `npm ci` of the checkout with the npm that each supported Node.js brings, and on Node.js 20. */

import { resolve } from "node:path";
import { expect, test } from "vitest";
import { installNpmClient, runCommand } from "../clients/npm-clients.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

const { platform, arch } = process;
const ROOT = resolve(import.meta.dirname, "../..");

test.each(["10.9.9", "11.19.1"])("npm %s accepts the lock file without a warning", async (version) => {
  await using home = await temporaryDirectory();
  const npm = await installNpmClient("npm", version, "npm");
  const parameters = ["ci", "--dry-run", "--ignore-scripts", "--no-update-notifier", "--loglevel=warn"];
  const environment = { HOME: home.path, npm_config_cache: home.path };
  const { code, output } = await runCommand(npm, parameters, { cwd: ROOT, environment });
  expect(output).not.toMatch(/npm (warn|error)/i);
  expect(code).toBe(0);
});

// npm warns of each package whose `engines` leave out its Node.js, although all of them run on the installed one.
test.each([
  ["10.9.9", "20.20.2"],
  ["11.19.1", "20.20.2"],
  ["11.19.1", "22.23.3"],
])("npm %s on Node.js %s prints no warning", async (npmVersion, nodeVersion) => {
  await using home = await temporaryDirectory();
  const npm = await installNpmClient("npm", npmVersion, "npm");
  const node = await installNpmClient(`node-${platform}-${arch}`, nodeVersion, "node");
  const parameters = [npm, "ci", "--dry-run", "--ignore-scripts", "--no-update-notifier"];
  const environment = { HOME: home.path, npm_config_cache: home.path };
  const { code, output } = await runCommand(node, parameters, { cwd: ROOT, environment });
  expect(output).not.toMatch(/npm (warn|error)/i);
  expect(code).toBe(0);
});
