import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../support/service/executable.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

/** A checkout whose program prints where it runs. */
function createCheckout(path: string): void {
  for (const folder of ["src/cli", "packages/audio/src", "node_modules/fastify"]) {
    mkdirSync(join(path, folder), { recursive: true });
  }
  for (const file of ["scripts/start.mjs", "scripts/bundle/current-bundle.mjs"])
    cpSync(join(ROOT, file), join(path, file));
  writeFileSync(join(path, "package.json"), '{ "type": "module" }');
  writeFileSync(join(path, "src/cli/parlance.ts"), 'console.log("sources");\n');
  writeFileSync(join(path, "packages/audio/src/decode.ts"), "");
}

test("starts from the bundle of the sources as they are, otherwise from the sources", async () => {
  await using checkout = await temporaryDirectory();
  createCheckout(checkout.path);
  const start = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["scripts/start.mjs"], { cwd: checkout.path });
    return stdout.trim();
  };
  expect(await start()).toBe("sources");

  const { currentBundle, COMPLETE } = await import(join(checkout.path, "scripts/bundle/current-bundle.mjs"));
  const { folder, executable } = currentBundle();
  mkdirSync(join(executable, ".."), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(executable, 'console.log("bundle");\n');
  expect(await start()).toBe("sources");
  writeFileSync(join(folder, COMPLETE), "");
  expect(await start()).toBe("bundle");

  appendFileSync(join(checkout.path, "src/cli/parlance.ts"), "// Changed.\n");
  expect(await start()).toBe("sources");
});
