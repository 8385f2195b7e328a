/** Upstream faults in speech, transcription, moderation and embeddings: the caller's error and the attempts. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";
import { type FaultName, type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

const OPERATIONS = ["speech", "transcription", "moderation", "embedding"] as const;
type Operation = (typeof OPERATIONS)[number];

interface Seen {
  status: number;
  code?: string | null;
  retryAfter?: string;
  /** The connection closed before the end of the answer. */
  isBroken?: boolean;
}

const FAILED: Seen = { status: 502, code: "upstream_error" };
const TIMED_OUT: Seen = { status: 504, code: "upstream_timeout" };
const BROKEN: Seen = { status: 200, isBroken: true };

type Fault = FaultName | "refuses-connections";

/** Attempts and result, and those of speech when its first samples have been sent. */
const EXPECTED: Partial<Record<Fault, [attempts: number, seen: Seen, ofSpeech?: Seen]>> = {
  "refuses-connections": [3, FAILED],
  "never-answers": [1, TIMED_OUT],
  "headers-then-hangs": [1, TIMED_OUT],
  "hangs-midway": [1, TIMED_OUT, BROKEN],
  "resets-at-once": [3, FAILED],
  "resets-mid-chunk": [3, FAILED, BROKEN],
  "rate-limited": [3, { status: 429, code: "rate_limit_exceeded" }],
  "rate-limited-for-7s": [1, { status: 429, code: "rate_limit_exceeded", retryAfter: "7" }],
  fails: [3, FAILED],
  "html-page": [3, FAILED],
  "html-error": [3, FAILED],
  "huge-body": [1, FAILED, BROKEN],
  redirects: [3, FAILED],
  "refuses-key": [1, FAILED],
  "error-with-200": [3, FAILED],
};

interface Row {
  operation: Operation;
  fault: Fault;
  attempts: number;
  seen: Seen;
}

const ROWS = OPERATIONS.flatMap((operation) =>
  Object.entries(EXPECTED).map(([fault, [attempts, seen, ofSpeech]]): Row => {
    const begins = operation === "speech" && ofSpeech !== undefined;
    return { operation, fault: fault as Fault, attempts: begins ? 1 : attempts, seen: begins ? ofSpeech : seen };
  }),
);

const HONEST: Record<Operation, string> = {
  speech: "{ engine: scripted, speech: { voices: [low] } }",
  transcription: "{ engine: scripted, replies: [{ text: One. }] }",
  embedding: "{ engine: sentence-embeddings }",
  moderation: "{ engine: guard, family: llama-guard-4, chat: { engine: scripted, replies: [{ text: safe }] } }",
};

const modelOf = ({ operation, fault }: Row) => `${operation}-${fault}`;
const TIMEOUT_SECONDS = 0.5;
/** Timeouts of rows without a timeout fault. */
const PATIENCE_SECONDS = 30;

let upstream: FaultyUpstream;
let service: Service;
beforeAll(async () => {
  upstream = await startFaultyUpstream();
  const models = ROWS.map((row) => {
    const url = row.fault === "refuses-connections" ? upstream.refusingUrl : upstream.baseUrlFor(row.fault);
    const endsByTime = row.seen.code === TIMED_OUT.code || row.fault === "hangs-midway";
    const seconds = endsByTime ? TIMEOUT_SECONDS : PATIENCE_SECONDS;
    const timeouts = `first_byte_timeout_seconds: ${seconds}, idle_timeout_seconds: ${seconds}`;
    const faulty = `{ engine: openai-compatible, base_url: "${url}", ${timeouts}, max_response_bytes: 262144 }`;
    const start = `task: ${row.operation}, circuit: { failures: 1000000, failure_rate: 1 }, deployments: [${faulty}`;
    const saved = `{ id: ${modelOf(row)}-saved, ${start}, ${HONEST[row.operation]}] }`;
    return `  - { id: ${modelOf(row)}, ${start}] }\n  - ${saved}\n`;
  });
  service = await startService({ config: `builtin_models: false\nmodels:\n${models.join("")}` });
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

async function ask(operation: Operation, model: string): Promise<{ seen: Seen; deployment: string | null }> {
  const response = await send(operation, model);
  const deployment = response.headers.get("x-parlance-deployment");
  if (response.status !== 200) {
    const { error } = (await response.json()) as { error: { code: string | null } };
    const retryAfter = response.headers.get("retry-after") ?? undefined;
    const seen = { status: response.status, code: error.code, ...(retryAfter === undefined ? {} : { retryAfter }) };
    return { seen, deployment };
  }
  const isBroken = await response.arrayBuffer().then(
    () => false,
    () => true,
  );
  return { seen: { status: 200, ...(isBroken ? { isBroken } : {}) }, deployment };
}

async function send(operation: Operation, model: string): Promise<Response> {
  switch (operation) {
    case "speech":
      return service.post("/v1/audio/speech", { model, voice: "low", input: "Say it.", response_format: "pcm" });
    case "embedding":
      return service.post("/v1/embeddings", { model, input: "Say it." });
    case "moderation":
      return service.post("/v1/moderations", { model, input: "Say it." });
    case "transcription": {
      const form = new FormData();
      form.append("file", new Blob([makeWave({ seconds: 0.2 })]), "name.wav");
      form.append("model", model);
      return service.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
    }
  }
}

const attemptsOf = (model: string) => metric(service, "parlance_attempts_total{", `model="${model}"`);

test.concurrent.each(ROWS)("$operation, $fault: $seen after $attempts attempts", async (row) => {
  const { seen } = await ask(row.operation, modelOf(row));
  expect(seen).toEqual(row.seen);
  expect(await attemptsOf(modelOf(row))).toBe(row.attempts);
});

test.concurrent.each(ROWS.filter(({ seen }) => seen.status !== 200))(
  "$operation, $fault, with another deployment",
  async (row) => {
    const model = `${modelOf(row)}-saved`;
    const { seen, deployment } = await ask(row.operation, model);
    expect([seen, deployment]).toEqual([{ status: 200 }, `${model}#2`]);
    expect(await attemptsOf(model)).toBe(2);
  },
);

test("holds no slots or connections after all faults", async () => {
  await eventually(async () => {
    expect(await metric(service, "parlance_slots_in_use{")).toBe(0);
    expect(await metric(service, "parlance_queue_length{")).toBe(0);
  });
});
