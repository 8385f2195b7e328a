/** Generators of requests to every operation: valid ones, most of them with one mutation. */

import fc from "fast-check";
import { toBody } from "./fuzz-mutations.ts";
import { inputItem, session, stored } from "./fuzz-stored.ts";
import { type FuzzRequest, MULTIPART_TYPE, text, upload } from "./fuzz-uploads.ts";

const JSON_TYPE = "application/json";
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/);
const some = <Value>(arbitrary: fc.Arbitrary<Value>, maxLength = 4) => fc.array(arbitrary, { minLength: 1, maxLength });
/** A record with the first fields always and the others at times. */
const record = (
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
) => fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });

const schema: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    record({ type: fc.constantFrom("string", "integer", "number", "boolean", "null") }),
    record(
      { type: fc.constant("string") },
      { pattern: fc.constantFrom("^a+$", "[0-9]{2}", "(a|b)*"), maxLength: fc.nat(20) },
    ),
    record({ enum: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }) }),
    record({ type: fc.constant("array"), items: tie("schema") }, { minItems: fc.nat(2) }),
    record(
      { type: fc.constant("object"), properties: fc.dictionary(name, tie("schema"), { maxKeys: 3 }) },
      { additionalProperties: fc.constant(false), required: fc.constant([]) },
    ),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
  ),
})).schema;

const textPart = record({ type: fc.constant("text"), text });
const message = fc.oneof(
  record({ role: fc.constantFrom("system", "developer"), content: text }, { name }),
  record({ role: fc.constant("user"), content: fc.oneof(text, some(textPart)) }, { name }),
  record({ role: fc.constant("assistant"), content: text }, { reasoning_content: text, refusal: fc.constant(null) }),
);
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const chat = record(
  { model: fc.constantFrom("m", "m", "upstream"), messages: some(message, 5) },
  {
    stream: fc.boolean(),
    temperature: number(0, 2),
    top_p: number(0, 1),
    n: fc.integer({ min: 1, max: 3 }),
    max_tokens: fc.integer({ min: 1, max: 100 }),
    stop: fc.oneof(text, some(text)),
    logit_bias: fc.dictionary(fc.nat(9999).map(String), number(-100, 100), { maxKeys: 3 }),
    seed: fc.integer(),
    tools: some(
      record({ type: fc.constant("function"), function: record({ name, parameters: schema }, { description: text }) }),
      2,
    ),
    tool_choice: fc.constantFrom("auto", "none"),
    response_format: fc.oneof(
      fc.constant({ type: "text" }),
      fc.constant({ type: "json_object" }),
      fc.record({ type: fc.constant("json_schema"), json_schema: record({ name, schema }, { strict: fc.boolean() }) }),
    ),
    metadata: fc.dictionary(name, text, { maxKeys: 3 }),
    reasoning_effort: fc.constantFrom("none", "low", "high"),
    moderation: fc.constant({ model: "guard", policy: { input: { mode: "score" } } }),
  },
);
const newResponse = record(
  { model: fc.constantFrom("m", "m", "upstream"), input: fc.oneof(text, some(inputItem)) },
  {
    instructions: text,
    stream: fc.boolean(),
    temperature: number(0, 2),
    max_output_tokens: fc.integer({ min: 16, max: 100 }),
    tools: some(record({ type: fc.constant("function"), name, parameters: schema }), 2),
    text: fc.record({ format: fc.constantFrom({ type: "text" }, { type: "json_object" }) }),
    reasoning: fc.record({ effort: fc.constantFrom("low", "high") }),
    metadata: fc.dictionary(name, text, { maxKeys: 3 }),
    include: fc.constant(["message.output_text.logprobs"]),
  },
);
/** At most one way to continue or to store. */
const responses = fc
  .tuple(
    newResponse,
    fc.constantFrom(
      {},
      {},
      { store: false },
      { background: true },
      { previous_response_id: "RESPONSE" },
      { conversation: "CONVERSATION" },
    ),
  )
  .map(([body, stored]) => ({ ...body, ...stored }));
const messages = record(
  {
    model: fc.constant("m"),
    max_tokens: fc.integer({ min: 1, max: 100 }),
    messages: some(record({ role: fc.constantFrom("user", "assistant"), content: fc.oneof(text, some(textPart)) })),
  },
  {
    system: fc.oneof(text, some(textPart)),
    stream: fc.boolean(),
    temperature: number(0, 1),
    stop_sequences: some(text),
    tools: some(
      record({ name, input_schema: fc.constant({ type: "object", properties: {} }) }, { description: text }),
      2,
    ),
    thinking: fc.constantFrom({ type: "disabled" }, { type: "enabled", budget_tokens: 1024 }),
    metadata: fc.record({ user_id: name }),
  },
);
const embeddings = record(
  { model: fc.constant("vectors"), input: fc.oneof(text, some(text), some(fc.nat(9999)), some(some(fc.nat(9999)))) },
  { encoding_format: fc.constantFrom("float", "base64"), dimensions: fc.integer({ min: 1, max: 3 }), user: name },
);
const completions = record(
  {
    model: fc.constant("m"),
    prompt: fc.oneof(text, some(text), some(fc.nat(9999)), some(some(fc.nat(9999)))),
  },
  {
    max_tokens: fc.integer({ min: 0, max: 100 }),
    n: fc.integer({ min: 1, max: 3 }),
    best_of: fc.integer({ min: 3, max: 4 }),
    logprobs: fc.integer({ min: 0, max: 5 }),
    echo: fc.boolean(),
    suffix: text,
    stop: fc.oneof(text, some(text)),
    temperature: number(0, 2),
    stream: fc.constant(false),
  },
);
const moderations = record({ input: fc.oneof(text, some(text)) }, { model: fc.constant("guard") });
const speech = record(
  { model: fc.constant("voice"), input: text, voice: fc.constantFrom("low", "high") },
  {
    speed: number(0.25, 4),
    response_format: fc.constantFrom("wav", "pcm", "flac"),
    stream_format: fc.constantFrom("audio", "sse"),
    timestamp_granularities: fc.constantFrom([], ["word"]),
  },
);

const project = fc.constantFrom("PROJECT", "none", "proj_x", "%00", "..");
const limit = fc.record({ max_requests_per_1_minute: fc.nat(1e6) });
const ADMINISTRATION: readonly [path: fc.Arbitrary<string>, body: fc.Arbitrary<unknown>][] = [
  [fc.constant("projects"), record({ name })],
  [project.map((id) => `projects/${id}`), record({ name })],
  [project.map((id) => `projects/${id}/service_accounts`), record({ name })],
  [
    fc.constant("projects/PROJECT/model_permissions"),
    fc.record({
      mode: fc.constantFrom("allow_list", "deny_list"),
      model_ids: some(fc.constantFrom("m", "voice", "guard")),
    }),
  ],
  [fc.constant("projects/PROJECT/rate_limits/rl-m"), limit],
  [
    fc.constant("projects/PROJECT/spend_limit"),
    fc.record({ threshold_amount: fc.nat(1e6), currency: fc.constant("USD"), interval: fc.constant("month") }),
  ],
  [
    fc.constant("projects/PROJECT/moderation_policy"),
    fc.record({ model: fc.constant("guard"), input: fc.constant({ mode: "score" }) }),
  ],
  [fc.constantFrom("models/m/load", "models/guard/load", "models/none/unload", "models/m/pull"), fc.constant({})],
];
const reading = fc
  .tuple(
    fc.constantFrom(
      "usage/completions",
      "usage/embeddings",
      "usage/moderations",
      "usage/audio_speeches",
      "usage/audio_transcriptions",
      "usage/images",
      "usage/vector_stores",
      "costs",
      "audit_logs",
      "requests",
      "overview",
      "projects",
      "admin_api_keys",
      "projects/PROJECT/rate_limits",
      "projects/PROJECT/api_keys",
    ),
    fc.dictionary(
      fc.constantFrom(
        "start_time",
        "end_time",
        "limit",
        "page",
        "after",
        "before",
        "bucket_width",
        "group_by",
        "group_by[]",
        "project_ids[]",
        "models",
        "order",
        "include_archived",
        "status",
        "operation",
        "model",
        "key_id",
      ),
      fc.oneof(fc.integer().map(String), fc.constantFrom("1d", "1h", "1m", "model", "project_id", "asc", "true"), text),
      { maxKeys: 4 },
    ),
  )
  .map(
    ([path, query]): FuzzRequest => ({
      method: "GET",
      path: `organization/${path}?${new URLSearchParams(toWellFormed(query))}`,
      isAdministration: true,
    }),
  );

function toWellFormed(query: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, value.toWellFormed()]));
}

const post = (path: string, valid: fc.Arbitrary<unknown>): fc.Arbitrary<FuzzRequest> =>
  toBody(valid).map((body) => ({ method: "POST", path, type: JSON_TYPE, body, isAdministration: false }));

const raw: fc.Arbitrary<FuzzRequest> = fc.record({
  method: fc.constant("POST" as const),
  path: fc.constantFrom(
    "chat/completions",
    "responses",
    "messages",
    "embeddings",
    "moderations",
    "audio/speech",
    "audio/transcriptions",
    "images/generations",
    "images/edits",
    "messages/count_tokens",
    "completions",
    "conversations",
    "conversations/CONVERSATION/items",
    "/console/session",
  ),
  type: fc.constantFrom(JSON_TYPE, MULTIPART_TYPE, "text/plain", "application/json; charset=utf-16"),
  body: fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((json) => Buffer.from(json)),
  ),
  isAdministration: fc.constant(false),
});

const administration: fc.Arbitrary<FuzzRequest> = fc.oneof(
  ...ADMINISTRATION.map(([path, valid]) =>
    fc.tuple(path, toBody(valid)).map(
      ([at, body]): FuzzRequest => ({
        method: "POST",
        path: `organization/${at}`,
        type: JSON_TYPE,
        body,
        isAdministration: true,
      }),
    ),
  ),
  reading,
);

export const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { weight: 5, arbitrary: post("chat/completions", chat) },
  { weight: 3, arbitrary: post("responses", responses) },
  { weight: 1, arbitrary: post("responses/input_tokens", responses) },
  { weight: 3, arbitrary: post("messages", messages) },
  { weight: 1, arbitrary: post("messages/count_tokens", messages) },
  { weight: 2, arbitrary: post("embeddings", embeddings) },
  { weight: 2, arbitrary: post("moderations", moderations) },
  { weight: 2, arbitrary: post("completions", completions) },
  { weight: 2, arbitrary: post("audio/speech", speech) },
  { weight: 1, arbitrary: upload },
  { weight: 3, arbitrary: stored },
  { weight: 1, arbitrary: session },
  { weight: 2, arbitrary: administration },
  { weight: 1, arbitrary: raw },
);
