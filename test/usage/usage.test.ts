/** Usage and costs through the official client. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    price: { prompt: "0.000001", completion: "0.00001" }
    deployments: [{ engine: scripted, echo: true }]
  - id: stray
    task: chat
    deployments: [{ engine: scripted, echo: true }]
  - id: crier
    task: speech
    price: { character: "0.00001" }
    deployments: [{ engine: scripted, speech: {} }]
  - id: listener
    task: transcription
    price: { second: "0.0001" }
    deployments: [{ engine: scripted, replies: [{ text: "Hello there." }] }]
`;

let service: Service;
let admin: OpenAI;

beforeAll(async () => {
  service = await startService({ config: CONFIG });
  admin = new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: service.adminKey, maxRetries: 0 });
});
afterAll(() => service.stop());

const usage = () => admin.admin.organization.usage;
const anHourAgo = () => Math.floor(Date.now() / 1000) - 3600;

// biome-ignore lint/suspicious/noExplicitAny: results of every kind
function resultsOf(page: { data: { results: any[] }[] }): any[] {
  return page.data.flatMap(({ results }) => results);
}

test("reports each operation's usage within a second by minute, hour and day, and costs in dollars", async () => {
  const client = service.client();
  let used = { in: 0, out: 0 };
  for (let request = 0; request < 3; request += 1) {
    const messages = [{ role: "user" as const, content: "Polly wants a cracker." }];
    const answer = await client.chat.completions.create({ model: "parrot", messages });
    used = { in: used.in + (answer.usage?.prompt_tokens ?? 0), out: used.out + (answer.usage?.completion_tokens ?? 0) };
  }
  await client.chat.completions.create({ model: "stray", messages: [{ role: "user", content: "Woof." }] });
  const speech = { model: "crier", input: "Hear, hear!", voice: "alloy", response_format: "pcm" } as const;
  await (await client.audio.speech.create(speech)).arrayBuffer();
  const file = new File([readFileSync(join(import.meta.dirname, "../recordings", "speech.mp3"))], "speech.mp3");
  await client.audio.transcriptions.create({ model: "listener", file });

  for (const bucket_width of ["1m", "1h", "1d"] as const) {
    const limit = { "1m": 100, "1h": 5, "1d": 3 }[bucket_width];
    const order = { start_time: anHourAgo(), bucket_width, limit, group_by: ["model"] as ["model"] };
    await eventually(async () => {
      const results = resultsOf(await usage().completions(order)).filter(({ model }) => model === "parrot");
      const object = "organization.usage.completions.result";
      for (const result of results) expect(result).toMatchObject({ object, project_id: null });
      // Requests of a slow machine are in several minutes.
      const sum = (field: string) => results.reduce((total, result) => total + result[field], 0);
      expect(sum("input_tokens")).toBe(used.in);
      expect(sum("output_tokens")).toBe(used.out);
      expect(sum("num_model_requests")).toBe(3);
    });
  }
  const lastHour = { start_time: anHourAgo(), limit: 3 };
  await eventually(async () => {
    expect(resultsOf(await usage().audioSpeeches(lastHour))).toMatchObject([{ characters: 11, num_model_requests: 1 }]);
    expect(resultsOf(await usage().audioTranscriptions(lastHour))).toMatchObject([{ num_model_requests: 1 }]);
    expect(resultsOf(await usage().moderations(lastHour))).toEqual([]);
  });

  const costs = resultsOf(await usage().costs({ ...lastHour, group_by: ["line_item", "project_id"] }));
  const cost = (model: string) => costs.find(({ line_item }) => line_item === model)?.amount;
  expect(cost("parrot")).toEqual({ value: (used.in * 1_000 + used.out * 10_000) / 1e9, currency: "usd" });
  expect(cost("crier")).toEqual({ value: 0.00011, currency: "usd" });
  expect(cost("stray")).toEqual({ value: 0, currency: "usd" });
  expect(costs.find(({ line_item }) => line_item === "stray")).toHaveProperty("x_unpriced", true);
  expect(costs[0]?.project_id).toMatch(/^proj_/);
  const headers = { authorization: `Bearer ${service.adminKey}` };
  for (const width of ["1m", "1h"]) {
    const query = `start_time=${anHourAgo()}&bucket_width=${width}&group_by=operation&limit=100`;
    const answer = await service.fetch(`/v1/organization/costs?${query}`, { headers });
    const hourly = resultsOf((await answer.json()) as Parameters<typeof resultsOf>[0]);
    expect(hourly.find(({ x_operation }) => x_operation === "speech")?.amount.value).toBe(0.00011);
    expect(new Set(hourly.map(({ x_operation }) => x_operation))).toEqual(new Set(["chat", "speech", "transcription"]));
  }

  const environment = { PARLANCE_DATA_DIR: service.dataDirectory };
  const surroundings = { cwd: service.dataDirectory, environment };
  const { stdout } = await runParlance(["usage"], surroundings);
  expect(stdout).toMatch(/^Default project +parrot +3 +/m);
  expect(stdout).toMatch(/stray .* no price/);
  const { stdout: json } = await runParlance(["usage", "--json"], surroundings);
  const rows = JSON.parse(json);
  expect(rows).toContainEqual(expect.objectContaining({ model: "parrot", requests: 3, input_tokens: used.in }));
  expect((await runParlance(["usage", "--month", "2026-13"], surroundings)).code).toBe(2);
});

test("pages through buckets without gaps", async () => {
  const start_time = Math.floor(Date.now() / 1000) - 5 * 86_400;
  const first = await usage().completions({ start_time, limit: 2 });
  expect(first).toMatchObject({ object: "page", has_more: true });
  const days = [...first.data];
  for (let page = first; page.next_page !== null; ) {
    page = await usage().completions({ start_time, limit: 2, page: page.next_page });
    days.push(...page.data);
  }
  expect(days).toHaveLength(6);
  for (const [index, day] of days.entries()) if (index > 0) expect(day.start_time).toBe(days[index - 1]?.end_time);
});

describe("answers 400 with the parameter's name:", () => {
  test.each([
    ["no start", "", "start_time"],
    ["a negative start", "start_time=-1", "start_time"],
    ["a broken start", "start_time=1.5", "start_time"],
    ["a huge start", "start_time=999999999999999", "start_time"],
    ["an end before the start", "start_time=2000&end_time=1000", "end_time"],
    ["an unknown width", "start_time=0&bucket_width=1w", "bucket_width"],
    ["an unknown group", "start_time=0&group_by=colour", "group_by[0]"],
    ["an unknown group in brackets", "start_time=0&group_by[]=model&group_by[]=size", "group_by[1]"],
    ["too many buckets", "start_time=0&limit=32", "limit"],
    ["no buckets", "start_time=0&limit=0", "limit"],
    ["a page of another list", "start_time=0&page=page_12", "page"],
    ["sizes of other things than images", "start_time=0&sizes=256x256", "sizes"],
    ["an unknown parameter", "start_time=0&colour=red", "colour"],
  ])("%s", async (_what, query, param) => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const answer = await service.fetch(`/v1/organization/usage/completions?${query}`, { headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  test("pages through ten years by the minute, with an empty future", async () => {
    const tenYears = { start_time: 1_450_000_000, end_time: 1_765_000_000, bucket_width: "1m", limit: 1440 } as const;
    const page = await usage().completions(tenYears);
    expect(page.data).toHaveLength(1440);
    expect(page.has_more).toBe(true);
    const future = await usage().completions({ start_time: 4_000_000_000 });
    expect(resultsOf(future)).toEqual([]);
    expect(future.has_more).toBe(false);
  });

  test("an empty report for a project key that asks for another project", async () => {
    const start = anHourAgo();
    const costs = async (query: string) =>
      resultsOf((await (await service.fetch(`/v1/organization/costs?start_time=${start}${query}`)).json()) as never);
    await eventually(async () => expect(await costs("")).not.toEqual([]));
    expect(await costs("&project_ids=proj_other")).toEqual([]);
  });
});
