/** Costs of requests to upstreams, at prices of every kind. */

import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { startUsageUpstream, type UsageUpstream } from "../support/upstreams/usage-upstream.ts";

let upstream: UsageUpstream;
let service: ServiceProcess;

beforeAll(async () => {
  upstream = await startUsageUpstream();
  service = await startServiceProcess({ config: config(PRICES) });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});

/** Prices of the providers' pages, in dollars per token. */
const PRICES: Readonly<Record<string, string>> = {
  // https://platform.claude.com/docs/en/models/haiku-5-5/overview, read 2026-11-23.
  "claude-haiku-5-5": `{ prompt: "0.0000001", cached_prompt: "0.00000001", cache_write: "0.000000125",
    cache_write_hour: "0.0000002", completion: "0.0000005", tool_calls: { web_search: "0.01" },
    tiers: [{ above_prompt_tokens: 100000, prompt: "0.0000005", cached_prompt: "0.00000005",
      cache_write: "0.000000625", cache_write_hour: "0.000001", completion: "0.0000025" }] }`,
  // https://developers.openai.com/api/docs/pricing (transcribed by third parties in May 2026) and
  // https://openai.com/api-priority-processing/.
  "gpt-5.4": `{ prompt: "0.0000025", cached_prompt: "0.00000025", completion: "0.000015",
    tiers: [{ service_tier: priority, prompt: "0.000005", cached_prompt: "0.0000005", completion: "0.00003" }] }`,
  euro: `{ prompt: "0.000001", completion: "0.000002", currency: EUR }`,
};

function config(prices: Readonly<Record<string, string>>): string {
  const models = Object.entries(prices).map(
    ([id, price]) => `
  - id: ${id}
    task: chat
    price: ${price.replace(/\s+/g, " ")}
    deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}" }]`,
  );
  return `
builtin_models: false
prices: { exchange_rates: { EUR: "1.08" } }
models: ${models.join("")}
  - id: of-its-deployment
    task: chat
    deployments:
      - { engine: openai-compatible, base_url: "${upstream.baseUrl}", price: { prompt: "1" }, price_factor: "0.85" }
  - id: unpriced
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}" }]
`;
}

/** Sends a chat and returns its recorded cost in dollars. */
async function costOf(model: string, stream = false): Promise<number | null> {
  const messages = [{ role: "user", content: "Hi" }];
  const response = await service.post("/v1/chat/completions", { model, messages, stream });
  expect(response.status).toBe(200);
  await response.text();
  return recordedCost(response.headers.get("x-request-id") ?? "");
}

async function recordedCost(id: string): Promise<number | null> {
  let cost: number | null = null;
  await eventually(async () => {
    const response = await service.fetch(`/v1/organization/requests/${id}`);
    expect(response.status).toBe(200);
    ({ cost_usd: cost } = (await response.json()) as { cost_usd: number | null });
  });
  return cost;
}

interface Case {
  model: string;
  usage: object;
  fields?: object;
  byHand: number;
}

/** Usage as the provider reports it, and its cost from the figures of the price page. */
const CASES: Readonly<Record<string, Case>> = {
  "a short prompt of Anthropic's, partly written to a cache for an hour, with searches": {
    model: "claude-haiku-5-5",
    usage: {
      ...{ prompt_tokens: 50_000, completion_tokens: 2_000, total_tokens: 52_000 },
      ...{ cache_read_input_tokens: 20_000, cache_creation_input_tokens: 10_000 },
      ...{ cache_creation: { ephemeral_5m_input_tokens: 4_000, ephemeral_1h_input_tokens: 6_000 } },
      server_tool_use: { web_search_requests: 2 },
    },
    // 20,000 × $0.10 + 20,000 × $0.01 + 4,000 × $0.125 + 6,000 × $0.20 + 2,000 × $0.50, per million, and 2 × $0.01.
    byHand: 0.002 + 0.0002 + 0.0005 + 0.0012 + 0.001 + 0.02,
  },
  "a long prompt, at the higher price for all of its tokens": {
    model: "claude-haiku-5-5",
    usage: { prompt_tokens: 100_001, completion_tokens: 1_000, total_tokens: 101_001 },
    // 100,001 × $0.50 + 1,000 × $2.50.
    byHand: 0.0500005 + 0.0025,
  },
  "cached tokens of OpenAI's, with reasoning in the completion": {
    model: "gpt-5.4",
    usage: {
      ...{ prompt_tokens: 10_000, completion_tokens: 4_000, total_tokens: 14_000 },
      prompt_tokens_details: { cached_tokens: 8_000 },
      completion_tokens_details: { reasoning_tokens: 3_000 },
    },
    fields: { service_tier: "default" },
    // 2,000 × $2.50 + 8,000 × $0.25 + 4,000 × $15.
    byHand: 0.005 + 0.002 + 0.06,
  },
  "the priority tier": {
    model: "gpt-5.4",
    usage: { prompt_tokens: 10_000, completion_tokens: 1_000, total_tokens: 11_000 },
    fields: { service_tier: "priority" },
    // 10,000 × $5 + 1,000 × $30.
    byHand: 0.05 + 0.03,
  },
  "a price in euros": {
    model: "euro",
    usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 },
    // €0.002 × 1.08.
    byHand: 0.00216,
  },
  "a discount of the deployment, whose price applies where the model has none": {
    model: "of-its-deployment",
    usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    byHand: 1.7,
  },
};

test.each(Object.entries(CASES))("costs %s", async (_name, { model, usage, fields = {}, byHand }) => {
  upstream.answer({ usage, fields });
  expect(await costOf(model)).toBeCloseTo(byHand, 9);
  expect(await costOf(model, true)).toBeCloseTo(byHand, 9);
});

test("lists prices with their tiers, tools and currency", async () => {
  const pricing = async (id: string) => {
    const response = await service.fetch(`/v1/models/${id}?include_metadata=true`);
    expect(response.status).toBe(200);
    return ((await response.json()) as { metadata: { pricing: object } }).metadata.pricing;
  };
  expect(await pricing("claude-haiku-5-5")).toMatchObject({
    ...{ prompt: "0.0000001", cache_write_hour: "0.0000002", tool_calls: { web_search: "0.01" } },
    tiers: [{ above_prompt_tokens: 100_000, completion: "0.0000025" }],
  });
  expect(await pricing("euro")).toMatchObject({ prompt: "0.000001", currency: "EUR", exchange_rate: "1.08" });
  expect(await pricing("of-its-deployment")).toMatchObject({ prompt: "1", completion: null });
  expect(await pricing("unpriced")).toEqual({ prompt: null, cached_prompt: null, completion: null });
});

test("records no cost, rather than 0, without a price", async () => {
  expect(await costOf("unpriced")).toBeNull();
});

test("twelve changes of the prices change no recorded cost", async () => {
  const million = 1_000_000;
  upstream.answer({ usage: { prompt_tokens: million, completion_tokens: 0, total_tokens: million } });
  const ids: string[] = [];
  for (let month = 1; month <= 12; month += 1) {
    await writeFile(service.configFile, config({ monthly: `{ prompt: "0.0000${month + 10}" }` }));
    service.process.kill("SIGHUP");
    await eventually(async () => {
      const response = await service.fetch("/v1/models/monthly?include_metadata=true");
      const { metadata } = (await response.json()) as { metadata?: { pricing?: { prompt?: string } } };
      expect(metadata?.pricing?.prompt).toBe(`0.0000${month + 10}`);
    });
    const messages = [{ role: "user", content: "Hi" }];
    const response = await service.post("/v1/chat/completions", { model: "monthly", messages });
    ids.push(response.headers.get("x-request-id") ?? "");
  }
  const costs = await Promise.all(ids.map(recordedCost));
  expect(costs).toEqual(ids.map((_id, index) => index + 11));
});

test("refuses a currency without an exchange rate, by the path of the price", async () => {
  const broken = config({ yen: `{ prompt: "1", currency: JPY }` });
  await writeFile(service.configFile, broken);
  service.process.kill("SIGHUP");
  await eventually(() =>
    expect(service.log()).toContainEqual(
      expect.objectContaining({ fault: expect.stringContaining("models[0].price.currency: has no rate") }),
    ),
  );
});
