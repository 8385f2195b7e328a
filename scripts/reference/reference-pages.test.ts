import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { GENERATED_PAGES } from "./reference-pages.ts";

test.each(Object.entries(GENERATED_PAGES))("%s is up to date (npm run reference)", async (path, generate) => {
  expect(await readFile(path, "utf8")).toBe(await generate());
});
