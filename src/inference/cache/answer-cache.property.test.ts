/**
 * No wrong and no foreign hit: pairs of requests that differ in one field of their operation's schema. A field without a
 * decision fails.
 */

import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { sampleSchema } from "../../../test/support/fuzz/sample-schema.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import type { ChatCall } from "../../contracts/chat-call.ts";
import { MemoryCacheStore } from "../../features/cache/memory-cache-store.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import { messagesFormat } from "../../wire/anthropic/messages.ts";
import { MessagesBody } from "../../wire/anthropic/messages-body.ts";
import type { FormatContext } from "../../wire/chat-format.ts";
import { OllamaChatBody, OllamaGenerateBody } from "../../wire/ollama/chat-body.ts";
import { ollamaChatFormat, ollamaGenerateFormat } from "../../wire/ollama/ollama-chat.ts";
import { SpeechBody, toSpeechRequest } from "../../wire/openai/audio/speech.ts";
import { ChatBody } from "../../wire/openai/chat/chat-body.ts";
import { chatCompletionsFormat } from "../../wire/openai/chat/chat-completions.ts";
import { CompletionBody } from "../../wire/openai/completions/completions-body.ts";
import { textCompletionsFormat } from "../../wire/openai/completions/text-completions.ts";
import { EmbeddingBody, readEmbedding } from "../../wire/openai/embeddings.ts";
import { ModerationBody, readModeration } from "../../wire/openai/moderations.ts";
import { RerankBody, readRerank } from "../../wire/openai/rerank.ts";
import { parse } from "../../wire/openai/validate.ts";
import { Components, type JsonSchema } from "../../wire/openapi/components.ts";
import { ResponsesBody } from "../../wire/responses/responses-body.ts";
import { responsesFormat } from "../../wire/responses/responses-format.ts";
import type { InferenceAnswer } from "../inference-answer.ts";
import { AnswerCache, type RunVariant } from "./answer-cache.ts";
import type { BypassReason, CacheParts } from "./cache-outcome.ts";
import { chatParts, embeddingParts, moderationParts, rerankParts, speechParts } from "./cache-parts.ts";

/** All pairs; `npm test` runs a part of them. */
const IS_LONG = process.env.ALL_GENERATED_CASES !== undefined;
const PAIRS = IS_LONG ? 1_050_000 : 4_000;

type Body = Record<string, unknown>;

/**
 * `answer`: changes the answer. `rendering`: changes only how the service writes an answer of typed events. `ignored`:
 * changes nothing. `elsewhere`: another part of the service reads it before the cache.
 */
type Decision = "answer" | "rendering" | "ignored" | "elsewhere";

interface Subject {
  schema: z.ZodType;
  base: Body;
  decisions: Readonly<Record<string, Decision>>;
  /** Values of fields that their schema alone does not describe. */
  values?: Readonly<Record<string, readonly unknown[]>>;
  /** Fields that a field needs, where they differ from `COMPANIONS`. */
  companions?: Readonly<Record<string, Body>>;
  /** Returns the parts, and what the engine gets as text. Throws a Fault for a body that is not valid. */
  read(body: Body): { parts: CacheParts | BypassReason; engine: string };
}

const CONTEXT: FormatContext = { callerHeaders: {}, unknownFields: "ignore", requestId: "request" };
/** An upstream that speaks every format. */
const PROXY = { task: "chat", forward: () => {}, forwards: () => true } as never;

const tool = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } });
const message = (content: unknown) => ({ role: "user", content });

/** `isUpstream`: bytes are forwarded, so that the engine gets all of the body. */
function chat(call: ChatCall, isUpstream: boolean): ReturnType<Subject["read"]> {
  const {
    callerHeaders: _headers,
    promptCacheKey: _key,
    upstreamFields: _fields,
    model: _model,
    ...request
  } = call.request;
  const forwarded = isUpstream && call.passThrough !== undefined ? { ...call.passThrough.body } : undefined;
  for (const name of ["model", ...(call.passThrough?.native === undefined ? IGNORED_AT_UPSTREAMS : [])]) {
    delete forwarded?.[name];
  }
  const sorted = forwarded && Object.entries(forwarded).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    parts: chatParts(call, isUpstream ? [PROXY] : []),
    engine: JSON.stringify([request, call.prompts, sorted, isUpstream && call.passThrough?.stream]),
  };
}

const IGNORED_AT_UPSTREAMS = ["user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"];

const SAMPLING = Object.fromEntries(
  "temperature top_p top_k min_p seed frequency_penalty presence_penalty repetition_penalty repeat_penalty repeat_last_n min_tokens logit_bias stop n"
    .split(" ")
    .map((name) => [name, "answer"]),
) as Record<string, Decision>;

const CHAT_DECISIONS: Subject["decisions"] = {
  ...SAMPLING,
  model: "elsewhere",
  messages: "answer",
  stream: "rendering",
  stream_options: "rendering",
  max_tokens: "answer",
  max_completion_tokens: "answer",
  logprobs: "answer",
  top_logprobs: "answer",
  chat_template_kwargs: "answer",
  guided_json: "answer",
  structured_outputs: "answer",
  // The route puts its messages into `messages`.
  prompt: "elsewhere",
  think: "answer",
  response_format: "answer",
  tools: "answer",
  tool_choice: "answer",
  parallel_tool_calls: "answer",
  reasoning_effort: "answer",
  user: "ignored",
  metadata: "rendering",
  store: "rendering",
  service_tier: "rendering",
  moderation: "elsewhere",
  // A loop of tools asks without it, and an upstream's answer with it is not cached.
  web_search_options: "elsewhere",
};

const CHAT_VALUES = {
  seed: [1, 2, 3],
  logprobs: [true],
  top_logprobs: [0, 1, 2],
  messages: ["a", "b", "a ", "A"].flatMap((text) => [
    [message(text)],
    [{ role: "system", content: text }, message("a")],
  ]),
  tools: [[tool("f")], [tool("g")], [tool("f"), tool("g")]],
  tool_choice: ["auto", "none"],
  stop: ["a", ["a", "b"], ["b"]],
  logit_bias: [{ "1": 5 }, { "1": 6 }, { "2": 5 }],
  response_format: [
    { type: "json_object" },
    { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
  ],
  guided_json: [{ type: "object" }, { type: "array" }],
  structured_outputs: [{ json: { type: "object" } }, { json: { type: "array" } }],
  think: [true, false, "low"],
};

const RESPONSE_DECISIONS: Subject["decisions"] = {
  model: "elsewhere",
  input: "answer",
  instructions: "answer",
  // The route puts its messages into the prompt.
  prompt: "elsewhere",
  stream: "rendering",
  stream_options: "rendering",
  tools: "answer",
  tool_choice: "answer",
  parallel_tool_calls: "answer",
  presence_penalty: "answer",
  frequency_penalty: "answer",
  max_tool_calls: "rendering",
  max_output_tokens: "answer",
  temperature: "answer",
  top_p: "answer",
  top_logprobs: "answer",
  text: "answer",
  reasoning: "answer",
  include: "answer",
  truncation: "rendering",
  context_management: "rendering",
  store: "rendering",
  // The route reads the earlier items into the prompt.
  previous_response_id: "elsewhere",
  conversation: "elsewhere",
  background: "elsewhere",
  metadata: "rendering",
  prompt_cache_key: "rendering",
  service_tier: "rendering",
  safety_identifier: "rendering",
  user: "rendering",
  moderation: "elsewhere",
};

const RESPONSE_VALUES = {
  input: ["a", "b", [message("a")], [{ type: "message", role: "user", content: [{ type: "input_text", text: "a" }] }]],
  tools: [[{ type: "function", name: "f", parameters: {} }], [{ type: "function", name: "g", parameters: {} }]],
  tool_choice: ["auto", "none"],
  text: [{ format: { type: "json_object" } }, { verbosity: "low" }, { verbosity: "high" }],
  top_logprobs: [0, 1, 2],
  include: [["message.output_text.logprobs"], []],
};

const MESSAGE_DECISIONS: Subject["decisions"] = {
  model: "elsewhere",
  messages: "answer",
  system: "answer",
  tools: "answer",
  // The route turns them into tools.
  mcp_servers: "elsewhere",
  tool_choice: "answer",
  thinking: "answer",
  output_config: "answer",
  output_format: "answer",
  max_tokens: "answer",
  stream: "rendering",
  stop_sequences: "answer",
  temperature: "answer",
  top_p: "answer",
  top_k: "answer",
};

const MESSAGE_VALUES = {
  messages: ["a", "b"].flatMap((text) => [[message(text)], [message([{ type: "text", text }])]]),
  system: ["a", "b", [{ type: "text", text: "a" }]],
  tools: [[{ name: "f", input_schema: { type: "object" } }], [{ name: "g", input_schema: { type: "object" } }]],
  tool_choice: [{ type: "auto" }, { type: "any" }, { type: "none" }],
  thinking: [{ type: "enabled", budget_tokens: 1024 }, { type: "disabled" }],
  output_config: [{ format: { type: "json_schema", schema: { type: "object" } } }, { effort: "low" }],
  output_format: [
    { type: "json_schema", schema: { type: "object" } },
    { type: "json_schema", schema: { type: "array" } },
  ],
};

const ollamaContext = { ...CONTEXT, idOf: (name: string) => name, beganAt: 0 };

function ollama(format: typeof ollamaChatFormat, body: Body): ReturnType<Subject["read"]> {
  const read = format.read(body, ollamaContext);
  if (read.call === undefined) throw invalidRequest("The request only loads a model.");
  return chat(format.call(read), true);
}

const OLLAMA: Subject["decisions"] = {
  model: "elsewhere",
  stream: "rendering",
  format: "answer",
  options: "answer",
  keep_alive: "elsewhere",
  think: "answer",
  logprobs: "answer",
  top_logprobs: "answer",
};
const OLLAMA_VALUES = {
  options: [{ temperature: 0 }, { temperature: 1 }, { seed: 4 }, { num_predict: 5 }],
  format: ["json", { type: "object" }, { type: "array" }],
  keep_alive: ["5m", 30],
  think: [true, false, "low"],
};

function onBoth(name: string, subject: (isUpstream: boolean) => Subject): Record<string, Subject> {
  return { [`${name} of upstreams`]: subject(true), [`${name} of local models`]: subject(false) };
}

const SUBJECTS: Record<string, Subject> = {
  ...onBoth("chat completions", (isUpstream) => ({
    schema: ChatBody,
    base: { model: "m", messages: [message("a")] },
    decisions: CHAT_DECISIONS,
    values: { ...CHAT_VALUES, moderation: [{ model: "j" }] },
    read: (body) => chat(chatCompletionsFormat.call(chatCompletionsFormat.read(body, CONTEXT)), isUpstream),
  })),
  ...onBoth("text completions", (isUpstream) => ({
    schema: CompletionBody,
    base: { model: "m", prompt: "a" },
    decisions: {
      ...SAMPLING,
      model: "elsewhere",
      prompt: "answer",
      stream: "rendering",
      stream_options: "rendering",
      max_tokens: "answer",
      logprobs: "answer",
      echo: "answer",
      suffix: "answer",
      best_of: "answer",
      user: "ignored",
    },
    values: {
      ...CHAT_VALUES,
      prompt: ["a", "b", ["a", "b"], [1, 2], [[1], [2]]],
      best_of: [2, 3, 4],
      logprobs: [0, 1, 2],
    },
    read: (body) => chat(textCompletionsFormat.call(textCompletionsFormat.read(body, CONTEXT)), isUpstream),
  })),
  ...onBoth("responses", (isUpstream) => ({
    schema: ResponsesBody,
    base: { model: "m", input: "a" },
    decisions: RESPONSE_DECISIONS,
    companions: { tool_choice: { tools: RESPONSE_VALUES.tools[0] }, stream_options: { stream: true } },
    values: { ...RESPONSE_VALUES, moderation: [{ model: "j" }] },
    read: (body) => {
      const read = responsesFormat.read(body, CONTEXT);
      const input = read.body.input ?? [];
      return chat(responsesFormat.call({ ...read, prompt: { context: [], input: input as never } }), isUpstream);
    },
  })),
  ...onBoth("messages", (isUpstream) => ({
    schema: MessagesBody,
    base: { model: "m", max_tokens: 5, messages: [message("a")] },
    decisions: MESSAGE_DECISIONS,
    companions: { tool_choice: { tools: MESSAGE_VALUES.tools[0] } },
    values: MESSAGE_VALUES,
    read: (body) => chat(messagesFormat.call(messagesFormat.read(body, CONTEXT)), isUpstream),
  })),
  "Ollama's chat": {
    schema: OllamaChatBody,
    base: { model: "m", messages: [message("a")] },
    decisions: { ...OLLAMA, messages: "answer", tools: "answer" },
    values: { ...OLLAMA_VALUES, messages: [[message("a")], [message("b")]], tools: CHAT_VALUES.tools },
    read: (body) => ollama(ollamaChatFormat, body),
  },
  "Ollama's generate": {
    schema: OllamaGenerateBody,
    base: { model: "m", prompt: "a" },
    decisions: {
      ...OLLAMA,
      prompt: "answer",
      suffix: "answer",
      system: "answer",
      raw: "answer",
      images: "answer",
    },
    values: { ...OLLAMA_VALUES, images: [["AAAA"], ["BBBB"]] },
    read: (body) => ollama(ollamaGenerateFormat, body),
  },
  embeddings: {
    schema: EmbeddingBody,
    base: { model: "m", input: "a" },
    decisions: {
      model: "elsewhere",
      input: "answer",
      dimensions: "answer",
      encoding_format: "answer",
      token_ids: "answer",
      user: "ignored",
    },
    values: { input: ["a", "b", ["a", "b"], [1, 2], [[1], [2]]] },
    read: (body) => {
      const { model: _model, user: _user, ...request } = readEmbedding(body);
      return { parts: embeddingParts(readEmbedding(body)), engine: JSON.stringify(request) };
    },
  },
  moderations: {
    schema: ModerationBody,
    base: { model: "m", input: "a" },
    decisions: { model: "elsewhere", input: "answer" },
    values: {
      input: [
        "a",
        "b",
        ["a", "b"],
        [{ type: "text", text: "a" }],
        [{ type: "image_url", image_url: { url: "data:,a" } }],
      ],
    },
    read: (body) => {
      const { inputs } = readModeration(body, 100);
      return { parts: moderationParts(inputs), engine: JSON.stringify(inputs) };
    },
  },
  rerank: {
    schema: RerankBody,
    base: { model: "m", query: "a", documents: ["a"] },
    decisions: {
      model: "elsewhere",
      query: "answer",
      documents: "answer",
      top_n: "rendering",
      top_k: "rendering",
      return_documents: "rendering",
    },
    values: { documents: [["a"], ["b"], ["a", "b"], [{ text: "a" }]] },
    read: (body) => {
      const { query, documents } = readRerank(body);
      return { parts: rerankParts({ query, documents }), engine: JSON.stringify([query, documents]) };
    },
  },
  speech: {
    schema: SpeechBody,
    base: { model: "m", input: "a", voice: "v" },
    decisions: {
      model: "elsewhere",
      input: "answer",
      voice: "answer",
      instructions: "answer",
      response_format: "rendering",
      speed: "answer",
      stream_format: "rendering",
      timestamp_granularities: "answer",
    },
    companions: { timestamp_granularities: { stream_format: "sse" } },
    values: { voice: ["v", "w", { id: "x" }], timestamp_granularities: [[], ["word"]] },
    read: (body) => {
      const request = toSpeechRequest(parse(SpeechBody, body));
      return { parts: speechParts(request), engine: JSON.stringify({ ...request, model: undefined }) };
    },
  },
};

const isValid = ({ read }: Subject, body: Body): boolean => {
  try {
    read(body);
    return true;
  } catch (failure) {
    if (failure instanceof Fault) return false;
    throw failure;
  }
};

const random = seededRandom(34);
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

/** Valid values of each field, alone with the base; `undefined` leaves an optional field out. */
function poolsOf(subject: Subject): Map<string, unknown[]> {
  const components = new Components();
  let schema = components.input(subject.schema);
  if (typeof schema.$ref === "string") schema = components.schemas[schema.$ref.split("/").at(-1) ?? ""] as JsonSchema;
  const { properties = {}, required = [] } = resolved(schema, components) as JsonSchema;
  const { base, values = {} } = subject;
  return new Map(
    Object.entries(properties).map(([name, property]) => {
      const drawn = values[name] ?? Array.from({ length: 60 }, () => sampleSchema(property, random));
      const companions = subject.companions?.[name] ?? COMPANIONS[name] ?? {};
      const valid = drawn.filter((value) => isValid(subject, { ...base, ...companions, [name]: value }));
      const pool = [...new Map(valid.map((value) => [JSON.stringify(value), value])).values()];
      return [name, required.includes(name) ? pool : [...pool, undefined]];
    }),
  );
}

/** Fields that a field needs. */
const COMPANIONS: Readonly<Record<string, Body>> = {
  stream_options: { stream: true },
  top_logprobs: { logprobs: true },
  tool_choice: { tools: CHAT_VALUES.tools[0] },
};

/** Replaces references by what they refer to. */
function resolved(schema: unknown, { schemas }: Components): unknown {
  if (Array.isArray(schema)) return schema.map((each) => resolved(each, { schemas } as Components));
  if (typeof schema !== "object" || schema === null) return schema;
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return resolved(schemas[$ref.split("/").at(-1) ?? ""], { schemas } as Components);
  return Object.fromEntries(
    Object.entries(schema).map(([key, each]) => [key, resolved(each, { schemas } as Components)]),
  );
}

const CACHE = {
  ttlSeconds: 60,
  use: "always",
  sampled: true,
  tools: true,
  sharedWithin: "project",
  version: "1",
  forwardedHeaders: () => ({}),
} as const;
const MATCH = { id: "m", model: { id: "m", deployments: [] } } as never;

interface Asked {
  label: string;
  status: string | undefined;
}

function openCache() {
  const store = new MemoryCacheStore(2 ** 20);
  const cache = new AnswerCache({ store, maxAnswerBytes: 2 ** 16, onOutcome: () => {} });
  /** Returns the label of the request that was answered: its own, or that of an earlier one. */
  return async (projectId: string, parts: CacheParts | BypassReason, label: string): Promise<Asked> => {
    const run = async ({ replay, outcome }: RunVariant<string>): Promise<InferenceAnswer<string>> => {
      const events = replay?.events ?? [label];
      const facts = { model: "m", deployment: "m", deploymentName: "m", engine: "e", cache: outcome };
      const form = { isUpstream: true, isForwarded: false, sampleRate: 0, used: NO_USAGE, rateLimitStatus: {} };
      const ends = { settleAs: () => {}, settlement: () => undefined, id: "", createdAt: 0 };
      return { ...facts, ...form, ...ends, events: each(events) };
    };
    const caller = { keyId: "key", organizationId: "org", projectId, kind: "project" } as const;
    const adapter = { task: "chat", cacheParts: () => parts } as never;
    const answer = await cache.answer<never, string>(
      { caller, match: MATCH, adapter, onDisconnect: () => {}, run },
      CACHE as never,
    );
    const [event = ""] = await Array.fromAsync(answer.events);
    return { label: event, status: answer.cache?.status };
  };
}

async function* each(events: readonly string[]): AsyncGenerator<string> {
  yield* events;
}

/** A request with one field drawn twice, and others that both have. */
function drawPair(subject: Subject, pools: Map<string, unknown[]>, field: string): [Body, Body] | undefined {
  const others = [...pools].filter(([name]) => name !== field && random() < 0.15);
  const common = Object.fromEntries(others.map(([name, pool]) => [name, pick(pool)]));
  const pool = pools.get(field) ?? [];
  const first = Math.floor(random() * pool.length);
  const second = (first + 1 + Math.floor(random() * (pool.length - 1))) % pool.length;
  for (const shared of [common, {}]) {
    const bodies = [first, second].map((index) =>
      withoutUndefined({
        ...subject.base,
        ...(subject.companions?.[field] ?? COMPANIONS[field]),
        ...shared,
        [field]: pool[index],
      }),
    );
    if (bodies.every((body) => isValid(subject, body))) return bodies as [Body, Body];
  }
  return undefined;
}

function withoutUndefined(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

describe.each(Object.keys(SUBJECTS))("%s", (name) => {
  const subject = SUBJECTS[name] as Subject;
  const pools = poolsOf(subject);

  test("have a decision for each field of their schema, and no other", () => {
    expect(Object.keys(subject.decisions).sort()).toEqual([...pools.keys()].sort());
  });

  test("are answered from the cache exactly when the engine would get the same, within the project", async () => {
    const fields = [...pools.keys()].filter((field) => (pools.get(field) ?? []).length > 1);
    const count = Math.ceil(PAIRS / Object.keys(SUBJECTS).length / fields.length);
    const sums = { pairs: 0, hits: 0, misses: 0 };
    const changing = new Set<string>();
    for (const field of fields) {
      let ask = openCache();
      for (let index = 0; index < count; index += 1) {
        if (index % 500 === 499) ask = openCache();
        const pair = drawPair(subject, pools, field);
        if (pair === undefined) continue;
        const [one, other] = [subject.read(pair[0]), subject.read(pair[1])];
        await ask("a", one.parts, one.engine);
        const answered = await ask("a", other.parts, other.engine);
        const foreign = await ask(`b${index}`, one.parts, "another project's");
        sums.pairs += 1;
        sums[answered.status === "hit" ? "hits" : "misses"] += 1;
        // Comparisons without `expect`, which takes longer than a request.
        if (answered.label !== other.engine) expect([field, answered.label]).toEqual([field, other.engine]);
        if (foreign.label !== "another project's") expect([field, foreign.label]).toEqual([field, "a miss"]);
        const isSame = one.engine === other.engine;
        if (isSame && typeof one.parts !== "string" && answered.status === "miss")
          expect([field, pair]).toEqual([field, "a hit"]);
        if (!isSame) changing.add(field);
      }
    }
    const decided = (decision: Decision) =>
      Object.keys(subject.decisions).filter((field) => subject.decisions[field] === decision);
    expect(decided("answer").filter((field) => !changing.has(field))).toEqual([]);
    expect(decided("ignored").filter((field) => changing.has(field))).toEqual([]);
    expect(sums.misses).toBeGreaterThan(0);
    if (IS_LONG) process.stdout.write(`${name}: ${JSON.stringify(sums)}\n`);
  });
});
