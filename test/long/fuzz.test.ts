/** Bodies that nobody planned for, over all operations: refused or answered, never a 5xx, a hang or a crash. */

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service.ts";

const BODIES = Number(process.env.PARLANCE_FUZZ_BODIES ?? 200_000);
const PARALLEL = 16;
const MAX_MILLISECONDS = 20_000;
const CONFIG = `
builtin_models: false
models:
  - { id: m, task: chat, max_queue: 1000, deployments: [{ engine: scripted, replies: [{ text: Hi. }], abilities: { tools: true, json_schema: true } }] }
  - { id: ears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
  - { id: voice, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - { id: guard, task: moderation, deployments: [{ engine: guard, family: llama-guard-3, chat: { engine: scripted, replies: [{ text: safe }] } }] }
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

const any = fc.jsonValue({ maxDepth: 3 });
/** Mostly what the field takes, at times anything. */
const mostly = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: any });
const text = fc.string({ unit: "binary", maxLength: 30 });
const record = (fields: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[] = []) =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, mostly(value)])), { requiredKeys });

const message = record(
  {
    role: fc.constantFrom("system", "user", "assistant", "tool", "developer", "function", "x"),
    content: fc.oneof(text, fc.constant(null), fc.array(record({ type: fc.constantFrom("text", "image_url"), text }))),
    tool_calls: fc.array(
      record({ id: text, type: fc.constant("function"), function: record({ name: text, arguments: text }) }),
    ),
    tool_call_id: text,
    reasoning_content: text,
    name: text,
  },
  ["role", "content"],
);
const schema = record({
  type: fc.constantFrom("object", "string", "array"),
  properties: fc.dictionary(text, any),
  pattern: text,
  items: any,
  $ref: text,
});
const number = fc.oneof(fc.double(), fc.integer());
const chat = record(
  {
    model: fc.constantFrom("m", "none"),
    messages: fc.array(message, { minLength: 1, maxLength: 5 }),
    stream: fc.boolean(),
    stream_options: record({ include_usage: fc.boolean() }),
    temperature: number,
    top_p: number,
    n: fc.integer({ min: 0, max: 5 }),
    max_tokens: fc.integer(),
    stop: fc.oneof(text, fc.array(text)),
    logit_bias: fc.dictionary(text, number),
    logprobs: fc.boolean(),
    top_logprobs: fc.integer(),
    tools: fc.array(record({ type: fc.constant("function"), function: record({ name: text, parameters: schema }) })),
    tool_choice: fc.oneof(fc.constantFrom("auto", "none", "required"), any),
    response_format: record({
      type: fc.constantFrom("text", "json_object", "json_schema"),
      json_schema: record({ name: text, schema }),
    }),
    metadata: fc.dictionary(text, text),
    moderation: record({
      model: fc.constant("guard"),
      policy: record({ input: record({ mode: fc.constantFrom("score", "block") }) }),
    }),
  },
  ["model", "messages"],
);
const moderation = record({ model: fc.constant("guard"), input: fc.oneof(text, fc.array(text), any) }, ["input"]);
const speech = record(
  {
    model: fc.constant("voice"),
    input: text,
    voice: text,
    speed: number,
    response_format: fc.constantFrom("wav", "pcm", "x"),
  },
  ["model", "input", "voice"],
);

interface Sent {
  path: string;
  type: string;
  body: string | Uint8Array;
}

const JSON_TYPE = "application/json";
const inJson = (path: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Sent> =>
  value.map((body) => ({ path, type: JSON_TYPE, body: JSON.stringify(body) ?? "" }));
const bytes = fc.uint8Array({ maxLength: 300 });
const path = fc.constantFrom(
  "chat/completions",
  "moderations",
  "audio/speech",
  "audio/transcriptions",
  "audio/translations",
);
const form = fc
  .array(
    fc.tuple(fc.constantFrom("model", "file", "language", "response_format", "temperature", "x"), text, fc.boolean()),
    { maxLength: 6 },
  )
  .map((parts) =>
    parts
      .map(
        ([name, value, isFile]) =>
          `--B\r\ncontent-disposition: form-data; name="${name}"${isFile ? '; filename="a.wav"' : ""}\r\n\r\n${value}\r\n`,
      )
      .join(""),
  );

const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 6, arbitrary: inJson("chat/completions", chat) },
  { weight: 2, arbitrary: inJson("moderations", moderation) },
  { weight: 2, arbitrary: inJson("audio/speech", speech) },
  { weight: 1, arbitrary: fc.record({ path, type: fc.constant(JSON_TYPE), body: fc.json() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      path,
      type: fc.constantFrom(JSON_TYPE, "multipart/form-data; boundary=B", "text/plain"),
      body: bytes,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      path: fc.constant("audio/transcriptions"),
      type: fc.constant("multipart/form-data; boundary=B"),
      body: form.map((parts) => `${parts}--B--\r\n`),
    }),
  },
  // A schema-aware body that is cut off, or in which one character is another.
  {
    weight: 2,
    arbitrary: fc.tuple(chat, fc.nat(), fc.string({ maxLength: 2 })).map(([value, at, put]) => {
      const json = JSON.stringify(value);
      const index = at % (json.length + 1);
      return {
        path: "chat/completions",
        type: JSON_TYPE,
        body: json.slice(0, index) + put + (at % 3 === 0 ? "" : json.slice(index + 1)),
      };
    }),
  },
);

test(
  `${BODIES} bodies over all operations are refused or answered`,
  async () => {
    const statuses = new Map<number, number>();
    let left = BODIES;
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: PARALLEL, maxLength: PARALLEL }), async (batch) => {
        const answers = await Promise.all(
          batch.map(async ({ path: operation, type, body }) => {
            const response = await service.fetch(`/v1/${operation}`, {
              method: "POST",
              headers: { "content-type": type },
              body: body as string,
              signal: AbortSignal.timeout(MAX_MILLISECONDS),
            });
            await response.arrayBuffer();
            return response.status;
          }),
        );
        for (const status of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        left -= batch.length;
        expect(answers.filter((status) => status >= 500)).toEqual([]);
      }),
      { numRuns: Math.ceil(BODIES / PARALLEL), endOnFailure: false },
    );
    console.log(`${BODIES - left} bodies: ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`);
    expect(service.process.exitCode).toBeNull();
    expect(service.output()).not.toMatch(/unhandled|uncaught/i);
  },
  12 * 3_600_000,
);
