import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
/** Variables of a project's key, which the official clients read, and of an admin key, which the commands read. */
const VARIABLES = ["OPENAI_API_KEY", "PARLANCE_ADMIN_KEY"];
/** Keys of other services, and of a team whose key an example tells from the first one. */
const OTHERS = ["MASTER_KEY", "WIKI_TOKEN", "TEAM_KEY", "SESSION_OR_ADMIN_KEY"];

test("examples have the key in the same variable everywhere", async () => {
  const used = new Map<string, string[]>();
  for await (const file of glob(["README.md", "docs/**/*.md", "console/src/**/*.{ts,tsx}", "src/cli/**/*.ts"], {
    cwd: ROOT,
  })) {
    const text = await readFile(join(ROOT, file), "utf8");
    for (const [, name = ""] of text.matchAll(/Bearer \\?\$\{?([A-Z][A-Z_]+)/g)) {
      used.set(name, [...(used.get(name) ?? []), file]);
    }
  }
  expect(used.size).toBeGreaterThan(0);
  expect([...used].filter(([name]) => ![...VARIABLES, ...OTHERS].includes(name))).toEqual([]);
});
