import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ENGINES } from "../../engines/registry.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import type { ModelSpec } from "../build-catalog.ts";
import { BUILTIN_PRICES, builtinPrices } from "./builtin-prices.ts";
import { costInNanoDollars } from "./cost.ts";
import { toDecimal } from "./decimal.ts";
import { PriceList, providerOf } from "./price-list.ts";
import { readPriceList, withPrices } from "./with-prices.ts";

const directory = mkdtempSync(join(tmpdir(), "parlance-prices-"));
afterAll(() => rmSync(directory, { recursive: true }));

function write(name: string, content: unknown): string {
  writeFileSync(join(directory, name), typeof content === "string" ? content : JSON.stringify(content));
  return name;
}

test.each([
  [1.9e-8, 0, "0.000000019"],
  [2.5e-6, 0, "0.0000025"],
  [0.00025, -2, "0.0000025"],
  [12.5, -6, "0.0000125"],
  [1e-7, 0, "0.0000001"],
  [0, 0, "0"],
  [3, 0, "3"],
  [123.456, 2, "12345.6"],
  // More digits than a price has are rounded.
  [1.23456789e-9, 0, "0.000000001234568"],
  [-1, 0, undefined],
  [Number.NaN, 0, undefined],
  ["1", 0, undefined],
])("writes %s × 10^%i as the decimal %s", (value, shift, expected) => {
  expect(toDecimal(value, shift)).toBe(expected);
});

test("reads LiteLLM's list: units, lifetimes, lengths, service tiers and tools", async () => {
  const file = write("litellm.json", {
    sample_spec: { litellm_provider: "one of …", input_cost_per_token: 0 },
    "claude-sonnet-4-5": {
      litellm_provider: "anthropic",
      input_cost_per_token: 3e-6,
      input_cost_per_token_above_200k_tokens: 6e-6,
      output_cost_per_token: 1.5e-5,
      output_cost_per_token_above_200k_tokens: 2.25e-5,
      cache_read_input_token_cost: 3e-7,
      cache_creation_input_token_cost: 3.75e-6,
      cache_creation_input_token_cost_above_1hr: 6e-6,
      search_context_cost_per_query: { search_context_size_medium: 0.01 },
      max_tokens: 64_000,
    },
    "gpt-5": {
      litellm_provider: "openai",
      input_cost_per_token: 1.25e-6,
      input_cost_per_token_flex: 6.25e-7,
      input_cost_per_token_priority: 2.5e-6,
      output_cost_per_token: 1e-5,
      output_cost_per_token_batches: 5e-6,
    },
    "gemini/gemini-2.5-flash": { litellm_provider: "gemini", input_cost_per_token: 3e-7 },
    "gemini-2.5-flash": { litellm_provider: "vertex_ai-language-models", input_cost_per_token: 4e-7 },
    "eu.amazon.nova-lite-v1:0": { litellm_provider: "bedrock_converse", input_cost_per_token: 7.8e-8 },
    "no-price": { litellm_provider: "openai", mode: "chat", max_tokens: 10 },
  });
  const list = new PriceList(await readPriceList(file, directory));
  expect(list.find("anthropic", "claude-sonnet-4-5-20250929")).toEqual({
    ...{ prompt: "0.000003", completion: "0.000015", cached_prompt: "0.0000003" },
    ...{ cache_write: "0.00000375", cache_write_hour: "0.000006", tool_calls: { web_search: "0.01" } },
    tiers: [{ above_prompt_tokens: 200_000, prompt: "0.000006", completion: "0.0000225" }],
  });
  expect(list.find("openai", "gpt-5")?.tiers).toEqual([
    { service_tier: "flex", prompt: "0.000000625" },
    { service_tier: "priority", prompt: "0.0000025" },
    { service_tier: "batch", completion: "0.000005" },
  ]);
  expect(list.find("google", "gemini-2.5-flash")).toEqual({ prompt: "0.0000003" });
  expect(list.find("vertex", "gemini-2.5-flash")).toEqual({ prompt: "0.0000004" });
  expect(list.find("bedrock", "eu.amazon.nova-lite-v1:0")).toEqual({ prompt: "0.000000078" });
  expect(list.find("openai", "no-price")).toBeUndefined();
  expect(list.find("openai", "gpt-5-mini")).toBeUndefined();
});

test("reads Portkey's list: cents, lifetimes, batches and lengths", async () => {
  const config = (request: number, response: number) => ({
    pay_as_you_go: {
      request_token: { price: request },
      response_token: { price: response },
      cache_read_input_token: { price: request / 10 },
      cache_write_input_token: { price: 0 },
      additional_units: { web_search: { price: 1.4 }, cache_write_1h: { price: 0.0006 } },
    },
    batch_config: { request_token: { price: request / 2 }, response_token: { price: response / 2 } },
  });
  const zero = { pay_as_you_go: { request_token: { price: 0 }, response_token: { price: 0 } } };
  const file = write("google.json", {
    default: { pricing_config: zero },
    unknown: { pricing_config: zero },
    "gemini-3-pro-gt-200k": { pricing_config: config(0.0004, 0.0018) },
    "gemini-3-pro-lte-200k": { pricing_config: config(0.0002, 0.0012) },
  });
  const list = new PriceList(await readPriceList(file, directory));
  const price = list.find("google", "gemini-3-pro") ?? {};
  expect(list.find("google", "unknown")).toBeUndefined();
  const cost = (promptTokens: number, serviceTier?: string) =>
    costInNanoDollars({ price, factors: [] }, "chat", {
      ...{ ...NO_USAGE, promptTokens, completionTokens: 1_000_000, details: { serviceTier } },
    });
  // $2 and $12 per million tokens, $4 and $18 for long prompts, half of it in batches.
  expect(cost(100_000)).toBe(0.2e9 + 12e9);
  expect(cost(1_000_000)).toBe(4e9 + 18e9);
  expect(cost(100_000, "batch")).toBe(0.1e9 + 6e9);
  expect(cost(1_000_000, "batch")).toBe(2e9 + 9e9);
  expect(price.tool_calls).toEqual({ web_search: "0.014" });
});

test.each([
  ["missing.json", undefined, "does not exist"],
  ["broken.json", "{", "is not valid JSON"],
  ["other.json", { a: { b: 1 } }, "has neither LiteLLM's format"],
])("names the file of a price list that cannot be read: %s", async (name, content, problem) => {
  if (content !== undefined) write(name, content);
  await expect(readPriceList(name, directory)).rejects.toThrow(problem);
  await expect(readPriceList(name, directory)).rejects.toThrow(join(directory, name));
});

test("the built-in list names a page and a date for each row, and no model twice", () => {
  for (const { source, readAt, perMillion } of BUILTIN_PRICES) {
    expect(source).toMatch(/^https:\/\//);
    expect(readAt).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(perMillion.prompt).toBeGreaterThan(0);
  }
  const names = BUILTIN_PRICES.map(({ provider, model }) => `${provider} ${model}`);
  expect(new Set(names).size).toBe(names.length);
  const price = new PriceList(builtinPrices()).find("anthropic", "claude-haiku-5-5-20261007");
  expect(price).toMatchObject({
    prompt: "0.0000001",
    cache_write: "0.000000125",
    tiers: [{ completion: "0.0000025" }],
  });
});

test.each([
  ["https://api.openai.com/v1", "openai"],
  ["https://eu.api.openai.com/v1", "openai"],
  ["https://generativelanguage.googleapis.com/v1beta/openai", "google"],
  ["https://my.openai.azure.com/openai/v1", "azure"],
  ["https://bedrock-runtime.eu-central-1.amazonaws.com", "bedrock"],
  ["https://europe-west4-aiplatform.googleapis.com/v1/projects/p", "vertex"],
  ["https://aiplatform.googleapis.com/v1", "vertex"],
  ["https://bedrock-runtime.eu-central-1.amazonaws.com.example.com", undefined],
  ["http://10.0.0.5:8000/v1", undefined],
  ["https://api.openai.com.example.com/v1", undefined],
])("the provider of %s is %s", (baseUrl, provider) => {
  expect(providerOf(baseUrl)).toBe(provider);
});

test("finds prices of the engines of providers by their default addresses", async () => {
  const list = new PriceList(await readPriceList("builtin", directory));
  const priceOf = (engine: keyof typeof ENGINES, model: string) => {
    const { baseUrl } = ENGINES[engine].settings.parse({ model }) as { baseUrl: string };
    return list.find(providerOf(baseUrl) ?? "", model)?.prompt;
  };
  expect(priceOf("gemini", "gemini-2.5-flash")).toBeDefined();
  expect(priceOf("gemini", "gemini-2.5-flash")).toBe(list.find("google", "gemini-2.5-flash")?.prompt);
  const addressOf = (engine: keyof typeof ENGINES, fields: object) =>
    (ENGINES[engine].settings.parse(fields) as { baseUrl: string }).baseUrl;
  const vertex = addressOf("gemini", { vertex: { project: "p", location: "europe-west4" } });
  const price = list.find(providerOf(vertex) ?? "", "gemini-2.5-pro");
  expect(price).toEqual(list.find("google", "gemini-2.5-pro"));
  const bedrock = providerOf(addressOf("bedrock", { region: "eu-central-1" })) ?? "";
  // A tenth more within Europe.
  expect(list.find(bedrock, "anthropic.claude-sonnet-4-6")?.completion).toBe("0.000015");
  expect(list.find(bedrock, "eu.anthropic.claude-sonnet-4-6")).toMatchObject({
    ...{ prompt: "0.0000033", cached_prompt: "0.00000033", cache_write: "0.000004125", completion: "0.0000165" },
  });
  for (const engine of ["anthropic", "mistral", "cohere"] as const) {
    const { baseUrl } = ENGINES[engine].settings.parse({ model: "x" }) as { baseUrl: string };
    expect(providerOf(baseUrl)).toBe(engine);
  }
});

test("completes prices: the configured one wins, then the first list; other hosts have none", async () => {
  const specify = (id: string, settings: object, price = {}, deploymentPrice = {}) =>
    ({
      id,
      price,
      deployments: [{ engine: "openai-compatible", settings, routingOptions: { price: deploymentPrice } }],
    }) as unknown as ModelSpec;
  const openai = { baseUrl: "https://api.openai.com/v1" };
  const own = write("own.json", { "gpt-4.1": { litellm_provider: "openai", input_cost_per_token: 9e-6 } });
  const models = [
    specify("team", { ...openai, model: "gpt-4.1" }),
    specify("gpt-4.1-mini", openai),
    specify("configured", { ...openai, model: "gpt-4.1" }, {}, { prompt: "0.1" }),
    specify("local", { baseUrl: "http://127.0.0.1:1/v1", model: "gpt-4.1" }),
    specify("openai/*", openai),
    specify("euro", openai, { prompt: "1", currency: "EUR" }),
  ];
  const prices = {
    lists: [own, "builtin"],
    exchangeRates: { EUR: "1.08" },
    projectFactors: { proj_a: "0.9" },
    vectorStores: {},
  };
  const completed = await withPrices(models, { prices, file: join(directory, "parlance.yaml") });
  const options = completed.map(({ deployments }) => deployments[0]?.routingOptions);
  expect(options.map((each) => each?.price.prompt)).toEqual([
    ...["0.000009", "0.0000004", "0.1", undefined, undefined, undefined],
  ]);
  expect(options[4]?.wildcardPrices).toMatchObject({
    "openai/gpt-4.1": { prompt: "0.000009" },
    "openai/gpt-5.4": { prompt: "0.0000025" },
  });
  expect(completed[5]?.price.exchange_rate).toBe("1.08");
  expect(completed[0]?.projectFactors).toEqual({ proj_a: "0.9" });
});
