import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "..");

test("is the only memo of the console: React's would keep texts of the previous language", () => {
  const files = globSync("**/*.{ts,tsx}", { cwd: SOURCES });
  expect(files.length).toBeGreaterThan(300);
  const importing = files.filter((file) =>
    /import \{[^}]*\bmemo\b[^}]*\} from "react"/.test(readFileSync(join(SOURCES, file), "utf8")),
  );
  expect(importing).toEqual(["i18n/memo.ts"]);
});
