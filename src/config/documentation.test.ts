/** The configurations in the documents are valid. */

import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse, parseDocument } from "yaml";
import { publishedSchema } from "../../scripts/reference/reference.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { configSources } from "../cli/config-sources.ts";
import { parseEndpoints } from "../kernel/discovery/parse-endpoints.ts";
import { loadConfig } from "./load-config.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const GUIDES = globSync(resolve(ROOT, "docs/how-to/route-to-*.md"));
const BLOCK = /^( *)```yaml\n(.*?)^ *```$/gms;

const blocksOf = (guide: string) =>
  [...readFileSync(guide, "utf8").matchAll(BLOCK)].map(([, indent = "", text = ""]) =>
    text.replace(new RegExp(`^${indent}`, "gm"), ""),
  );

describe.each(GUIDES)("%s", (guide) => {
  const blocks = blocksOf(guide);
  const configurations = blocks.filter((text) => text.startsWith("models:"));

  test.each(configurations)(`${basename(guide)} configures %#`, async (text) => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "parlance.yaml");
    await writeFile(file, text);
    const environment = { PARLANCE_CONFIG: file, VLLM_KEY: "k", LLAMA_KEY: "k" };
    const { models } = await loadConfig({ ...configSources(), environment });
    expect(models.map(({ id }) => id)).toEqual(["team-chat"]);
  });

  test("has no other YAML than lists of endpoints and Kubernetes objects", () => {
    for (const text of blocks.filter((each) => !each.startsWith("models:"))) {
      if (text.startsWith("# Kubernetes\n")) expect(parse(text)).toHaveProperty("spec");
      else expect(parseEndpoints(text, 8080)).toHaveLength(3);
    }
  });
});

const DOCUMENTS = globSync(["README.md", "docs/{tutorial,how-to,explanation}/**/*.md"], { cwd: ROOT });
const sections = new Set(Object.keys(publishedSchema.properties ?? {}));
const accepts = new Ajv().compile(publishedSchema);

/** Snippets that begin with a section of parlance.yaml; others are of other programs, or parts of a section. */
const snippets = DOCUMENTS.flatMap((path) =>
  blocksOf(join(ROOT, path))
    // Continue's configuration has models, too.
    .filter((text) => !text.startsWith("# Continue's"))
    .map((text) => ({ path, text, value: parseDocument(text).toJS() as unknown }))
    .filter(({ value }) => typeof value === "object" && value !== null && sections.has(Object.keys(value)[0] ?? "")),
);

test.each(snippets)("the configuration in $path is valid: $text", ({ value }) => {
  expect(accepts(value), JSON.stringify(accepts.errors?.slice(0, 3))).toBe(true);
});

test("finds the configurations of most guides", () => {
  expect(new Set(snippets.map(({ path }) => path)).size).toBeGreaterThan(20);
});
