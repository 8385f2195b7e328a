/** Engines of providers: each ability through chat completions, Responses and Messages, with the official clients. */

import Anthropic from "@anthropic-ai/sdk";
import { ApiError } from "@google/genai";
import { APIError } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import {
  type PreparedAnswer,
  type ReceivedRequest,
  type StandIn,
  startStandIn,
} from "../support/upstreams/native/stand-in.ts";
import { anthropicCase } from "./anthropic-case.ts";
import { APIS, PDF, PNG, type Wish } from "./apis.ts";
import { PROVIDER_CASES as CASES, nameOf } from "./provider-cases.ts";

const FAILURES = ["limited", "overloaded", "unauthorized"] as const;

const SCHEMA = {
  type: "object",
  properties: { warm: { type: "boolean" } },
  required: ["warm"],
  additionalProperties: false,
};

const standIns = new Map<string, StandIn>();
const started = new AsyncDisposableStack();
let service: Service;
beforeAll(async () => {
  for (const each of CASES) {
    standIns.set(nameOf(each), await startStandIn(each.format));
    if (each.start !== undefined) started.use(await each.start());
  }
  // A failure opens the circuit of its deployment.
  const ids = ["", ...APIS.flatMap(({ name }) => FAILURES.map((failure) => `/${failure}/${name.replace(" ", "-")}`))];
  const models = CASES.flatMap((each) =>
    ids.map((id) => ({
      id: nameOf(each) + id,
      task: "chat",
      deployments: [{ engine: each.engine, ...each.settings(standInOf(nameOf(each)).origin) }],
    })),
  );
  models.push({
    id: "pool",
    task: "chat",
    deployments: CASES.slice(0, 3).map(({ engine, settings }) => ({
      engine,
      prefix_caching: true,
      ...settings(standInOf(engine).origin),
    })),
    strategy: "least_busy",
  } as (typeof models)[number]);
  models.push({
    id: "marked",
    task: "chat",
    deployments: [
      {
        engine: "anthropic",
        ...anthropicCase.settings(standInOf("anthropic").origin),
        ...{ cache: { instructions: "1h", conversation: "5m" } },
      },
    ],
  } as (typeof models)[number]);
  service = await startService({ config: JSON.stringify({ builtin_models: false, models }) });
});
afterAll(async () => {
  await service?.stop();
  for (const standIn of standIns.values()) await standIn.close();
  await started.disposeAsync();
});

function standInOf(engine: string): StandIn {
  const standIn = standIns.get(engine);
  if (standIn === undefined) throw new Error(`${engine} has no stand-in`);
  return standIn;
}

const ROWS = CASES.flatMap((provider) => APIS.map((api) => [nameOf(provider), api.name, provider, api] as const));

describe.each(ROWS)("%s through %s", (engine, _name, provider, api) => {
  const forwarded = provider.forwarded?.api === api.name ? provider.forwarded : undefined;

  /** Asks with prepared answers; `body` is what the provider got last. */
  async function ask(wish: Wish, ...answers: PreparedAnswer[]) {
    const standIn = standInOf(engine);
    standIn.received.length = 0;
    standIn.drop();
    standIn.reply(...(wish.stream === true ? answers : answers.map((each) => forwarded?.toComplete(each) ?? each)));
    const answer = await api.ask(service, engine, wish);
    return { answer, received: standIn.received.at(-1) as ReceivedRequest };
  }

  const { answers, expected } = provider;

  test.each([false, true])("answers with text and usage, stream: %s", async (stream) => {
    const { answer, received } = await ask({ stream }, answers.text);
    expect(answer).toMatchObject({ text: "It is warm.", reason: api.reasons.stop });
    const written = api.lacks?.includes("written") ? 0 : provider.writtenTokens;
    expect(answer.usage).toEqual({ input: 90, cached: 30, written, output: 25 });
    provider.credentials(received);
  });

  test("reports an answer that the limit of tokens cuts off", async () => {
    const { answer } = await ask({ maxTokens: 1500 }, answers.cut);
    expect(answer.reason).toBe(api.reasons.length);
  });

  test.each([false, true])("makes parallel calls, and carries their turn back, stream: %s", async (stream) => {
    const effort = provider.hasReasoning ? { effort: "low" } : {};
    const { answer, received } = await ask({ tools: true, stream, ...effort }, answers.calls);
    expect(received.body).toMatchObject(expected.tools);
    if (expected.effort !== undefined) expect(received.body).toMatchObject(expected.effort);
    expect(answer.calls.map(({ name, arguments: written }) => [name, written])).toEqual([
      ["get_weather", { city: "Paris" }],
      ["get_weather", { city: "Oslo" }],
    ]);
    expect(answer.reason).toBe(api.reasons.calls);
    // OpenAI's client does not join fields that are not OpenAI's.
    if (stream && api.name === "chat completions") return;
    if (provider.hasReasoning) expect(answer.reasoning).toBe("Two cities.");
    const next = await ask({ tools: true, ...effort, after: { answer, results: ["warm", "cold"] } }, answers.text);
    expect(next.received.body).toMatchObject(expected.results);
    expect(next.answer.text).toBe("It is warm.");
  });

  test("makes one call at a time when the caller wants it", async ({ skip }) => {
    skip(api.lacks?.includes("isSequential") === true, "the API has no such field");
    const { answer, received } = await ask({ tools: true, isSequential: true }, answers.calls);
    const { body } = received;
    const isTold = JSON.stringify(body).includes("disable_parallel") || body.parallel_tool_calls === false;
    // A provider that is told makes one call; for the others, further calls are left out. Servers with OpenAI's own API
    // are told, too, and some do not heed it.
    expect(answer.calls).toHaveLength(isTold && engine !== "azure-openai" ? 2 : 1);
  });

  test.each(["required", "get_weather", "none"] as const)("takes the tool choice %s", async (toolChoice) => {
    const { received } = await ask({ tools: true, toolChoice }, answers.text);
    expect(received.body).toMatchObject(expected.choices[toolChoice]);
  });

  test("reads images", async ({ skip }) => {
    skip(!provider.readsImages, "the provider reads none");
    const { received } = await ask({ image: PNG }, answers.text);
    expect(received.body).toMatchObject(expected.image);
  });

  test("reads PDF, or its text", async () => {
    const { received } = await ask({ pdf: PDF }, answers.text);
    if (expected.pdf === undefined) expect(JSON.stringify(received.body)).toContain("Tides follow the moon.");
    else expect(received.body).toMatchObject(expected.pdf);
  });

  test("answers within a schema", async ({ skip }) => {
    skip(expected.schema === undefined, "the provider has none");
    const { received } = await ask({ schema: SCHEMA }, answers.text);
    expect(received.body).toMatchObject(expected.schema ?? {});
  });

  test("passes cache marks on", async ({ skip }) => {
    skip(api.lacks?.includes("marked") === true, "the API has no marks");
    skip(expected.marked === undefined, "the provider caches by itself");
    const { received } = await ask({ system: "Be short.", marked: true }, answers.text);
    expect(received.body).toMatchObject(expected.marked ?? {});
  });

  test("reports that the provider declines for safety", async ({ skip }) => {
    if (answers.refused === undefined) return skip("the provider declines in its text");
    const { answer } = await ask({}, answers.refused);
    expect(answer.reason).toBe(api.reasons.refused);
  });

  test.each([
    ["limited", 429],
    ["overloaded", 502],
    ["unauthorized", 502],
  ] as const)("reports that the provider is or says %s with status %i", async (failure, status) => {
    const standIn = standInOf(engine);
    const model = `${engine}/${failure}/${api.name.replace(" ", "-")}`;
    // Failures that may pass are tried again.
    for (let attempt = 0; attempt < 10; attempt += 1) standIn.reply(answers[failure]);
    const fault = await refusalOf(api.ask(service, model, {}));
    standIn.drop();
    expect(fault.status).toBe(status);
    if (failure === "limited") expect(fault.headers?.get("retry-after") ?? fault.message).toContain("17");
    expect(fault.message).not.toContain("127.0.0.1");
  });

  test("refuses a field that the provider does not have, by name", async ({ skip }) => {
    const { missing } = provider;
    if (missing === undefined || api.name !== "chat completions") return skip("its fields are not chat completions'");
    const { field, value } = missing;
    const answer = await service.post("/v1/chat/completions", {
      model: engine,
      messages: [{ role: "user", content: "Hi" }],
      [field]: value,
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: field, message: expect.stringMatching(/'s API/) } });
  });
});

test("keeps a conversation at the provider that has its prompt cached", async () => {
  const [chat] = APIS;
  if (chat === undefined) throw new Error("no API");
  const providers = new Set<string>();
  for (const turn of [1, 2, 3, 4, 5, 6]) {
    for (const { engine, answers, forwarded } of CASES.slice(0, 3)) {
      const standIn = standInOf(engine);
      standIn.drop();
      standIn.received.length = 0;
      standIn.reply(forwarded?.api === chat.name ? forwarded.toComplete(answers.text) : answers.text);
    }
    await chat.ask(service, "pool", { system: "You are a helper. ".repeat(100), say: `Question ${turn}` });
    for (const { engine } of CASES.slice(0, 3)) if (standInOf(engine).received.length > 0) providers.add(engine);
  }
  for (const standIn of standIns.values()) standIn.drop();
  expect(providers.size).toBe(1);
});

test("forwards a Messages request as it is, with the model and the caller's version, and marks it if configured", async () => {
  const standIn = standInOf("anthropic");
  const ask = async (model: string) => {
    const text = `{ "max_tokens": 100, "model": "${model}",  "messages": [{"role":"user","content":"Hi"}], "system": "Be short." }`;
    standIn.reply(anthropicCase.forwarded?.toComplete(anthropicCase.answers.text) ?? anthropicCase.answers.text);
    const headers = {
      "content-type": "application/json",
      "x-api-key": service.apiKey,
      "anthropic-version": "2026-10-21",
    };
    const answer = await service.fetch("/v1/messages", { method: "POST", headers, body: text });
    expect(await answer.json()).toMatchObject({ model, content: [{ text: "It is warm." }] });
    return { sent: text, received: standIn.received.at(-1) };
  };
  const { sent, received } = await ask("anthropic");
  expect(received?.text).toBe(sent.replace(' "anthropic"', '"claude-sonnet-4-5"'));
  expect(received?.headers).toMatchObject({ "anthropic-version": "2026-10-21", "x-api-key": "sk-ant-key" });
  expect((await ask("marked")).received?.body).toMatchObject({
    system: [{ text: "Be short.", cache_control: { type: "ephemeral", ttl: "1h" } }],
    cache_control: { type: "ephemeral", ttl: "5m" },
  });
});

async function refusalOf(
  asked: Promise<unknown>,
): Promise<Pick<APIError, "status" | "message"> & { headers?: Headers }> {
  const failure = await asked.then(
    (answer) => {
      throw new Error(`answered instead of failing: ${JSON.stringify(answer)}`);
    },
    (error: unknown) => error,
  );
  if (failure instanceof ApiError) return failure;
  if (failure instanceof APIError || failure instanceof Anthropic.APIError) return failure as APIError;
  throw failure;
}
