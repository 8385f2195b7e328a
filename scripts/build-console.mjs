/**
 * Builds the console when its build is missing or older than its sources. `parlance serve` runs it beside the
 * service at the lowest priority. A build replaces the previous one only when it is complete.
 */

import { existsSync, globSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const CONSOLE = join(import.meta.dirname, "../console");
const DIST = join(CONSOLE, "dist");
const SOURCES = ["src/**/*", "public/**/*", "index.html", "package.json", "vite.config.ts", "vite-*.ts"];

const force = process.argv.includes("--force");
if (force || !isCurrent()) await build();

function isCurrent() {
  const built = join(DIST, "index.html");
  if (!existsSync(built)) return false;
  const builtAt = statSync(built).mtimeMs;
  return globSync(SOURCES, { cwd: CONSOLE }).every((file) => statSync(join(CONSOLE, file)).mtimeMs <= builtAt);
}

async function build() {
  // Vite keeps a value such as `test`, for which it would build React's development version, half as large again.
  process.env.NODE_ENV = "production";
  // Imported late: reading the bundler takes longer than finding that nothing has changed.
  const vite = await import("vite").catch(() => {
    console.error("error: The console cannot be built without its build tools. Run `npm ci` with dev dependencies.");
    process.exit(1);
  });
  const next = join(CONSOLE, `dist-${process.pid}`);
  try {
    await vite.build({
      root: CONSOLE,
      logLevel: "warn",
      configFile: join(CONSOLE, "vite.config.ts"),
      build: { outDir: next, emptyOutDir: true },
    });
    rmSync(DIST, { recursive: true, force: true });
    renameSync(next, DIST);
  } catch (error) {
    // Another service that started at the same time has just put the same build there.
    if (!["ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}
