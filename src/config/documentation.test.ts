/** The configurations in the how-to guides are valid. */

import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { configSources } from "../cli/config-sources.ts";
import { parseEndpoints } from "../kernel/discovery/parse-endpoints.ts";
import { loadConfig } from "./load-config.ts";

const GUIDES = globSync(resolve(import.meta.dirname, "../../docs/how-to/route-to-*.md"));
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
