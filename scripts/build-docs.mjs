/**
 * Builds the documentation site: `npm run docs`, `npm run tarball`, and the service of a checkout when somebody opens /docs.
 * `--if-stale` does nothing while the build is newer than its sources. A build replaces the previous one only when it
 * is complete. Fails on dead links and on errors of rendering, which Vue only prints.
 */

import { existsSync, globSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const option = (name) => process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const source = resolve(option("source") ?? join(ROOT, "docs"));
const target = resolve(option("target") ?? join(ROOT, "dist-docs"));

if (!process.argv.includes("--if-stale") || !isCurrent()) await build();

function isCurrent() {
  const built = join(target, "index.html");
  if (!existsSync(built)) return false;
  const builtAt = statSync(built).mtimeMs;
  const files = globSync(["**/*.{md,png,svg}", ".vitepress/config.ts", ".vitepress/theme/*"], { cwd: source });
  return files.every((file) => statSync(join(source, file)).mtimeMs <= builtAt);
}

async function build() {
  process.env.NODE_ENV = "production";
  // Imported late: reading the bundler takes longer than finding that nothing has changed.
  const vitepress = await import("vitepress").catch(() => {
    console.error(
      "error: The documentation cannot be built without its build tools. Run `npm ci` with dev dependencies.",
    );
    process.exit(1);
  });
  const errors = [];
  const print = console.error;
  // In production, Vue reports an error of a page's rendering here and goes on with an empty page.
  console.error = (...words) => {
    errors.push(words.map(String).join(" "));
    print(...words);
  };
  const next = `${target}-${process.pid}`;
  try {
    await vitepress.build(source, { outDir: next });
    if (errors.length > 0) {
      print(`error: The documentation was not built: ${errors.length} errors, printed above.`);
      process.exitCode = 1;
      return;
    }
    rmSync(target, { recursive: true, force: true });
    renameSync(next, target);
  } catch (error) {
    // Another build that ran at the same time has just put the same site there.
    if (!["ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  } finally {
    console.error = print;
    rmSync(next, { recursive: true, force: true });
  }
}
