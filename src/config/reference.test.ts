/** The published reference and JSON Schema agree with the schemas that validate the file. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { fillReference, publishedSchema } from "../../scripts/reference/reference.ts";
import { configSources } from "../cli/config-sources.ts";
import { loadConfig } from "./load-config.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(resolve(root, file), "utf8");
const accepts = new Ajv().compile(JSON.parse(read("parlance.schema.json")));

test("parlance.schema.json is up to date (npm run reference)", () => {
  expect(JSON.parse(read("parlance.schema.json"))).toEqual(JSON.parse(JSON.stringify(publishedSchema)));
});

test("docs/reference/configuration.md is up to date (npm run reference)", () => {
  const text = read("docs/reference/configuration.md");
  expect(text).toBe(fillReference(text));
});

test("accepts parlance.example.yaml in both the JSON Schema and loadConfig", async () => {
  expect(accepts(parse(read("parlance.example.yaml"))), JSON.stringify(accepts.errors)).toBe(true);
  const config = await loadConfig({
    ...configSources(),
    environment: { PARLANCE_CONFIG: "parlance.example.yaml" },
    workingDirectory: root,
  });
  expect(config.models.map(({ id }) => id)).toEqual(["team-chat"]);
});

test.each([
  ["an unknown key", { model: [] }],
  ["a wrong type", { server: { port: "8080" } }],
  ["a bound", { server: { port: 65536 } }],
  ["a missing key", { models: [{ id: "a", deployments: [{ engine: "flite" }] }] }],
  ["no deployment", { models: [{ id: "a", task: "chat", deployments: [] }] }],
  ["an unknown engine", { models: [{ id: "a", task: "chat", deployments: [{ engine: "x" }] }] }],
  [
    "a setting of another engine",
    { models: [{ id: "a", task: "chat", deployments: [{ engine: "flite", api_key: "x" }] }] },
  ],
  [
    "a price below nothing",
    { models: [{ id: "a", task: "chat", price: { prompt: "-1" }, deployments: [{ engine: "flite" }] }] },
  ],
  [
    "a key that is not implemented",
    { models: [{ id: "a", task: "chat", metadata: {}, deployments: [{ engine: "flite" }] }] },
  ],
])("rejects %s in the JSON Schema", (_name, file) => {
  expect(accepts(file)).toBe(false);
});

test("accepts a variable for a value with a pattern in the JSON Schema", () => {
  const price = { prompt: `$${"{PRICE}"}` };
  expect(accepts({ models: [{ id: "a", task: "chat", price, deployments: [{ engine: "flite" }] }] })).toBe(true);
});

test("omits the scripted engine from the published JSON Schema", () => {
  expect(JSON.stringify(publishedSchema)).not.toContain("scripted");
});
