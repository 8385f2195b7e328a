/** The Fault of each upstream failure, without secrets in it or leaked sockets. */

import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { makeEngineServices } from "../../../../test/support/models/engine-services.ts";
import { forward, makeChatCall } from "../../../../test/support/service/chat-request.ts";
import { eventually } from "../../../../test/support/service/eventually.ts";
import { readAnswer, textOf } from "../../../../test/support/service/read-answer.ts";
import { expectWithin } from "../../../../test/support/timing.ts";
import {
  type FaultName,
  type FaultyUpstream,
  startFaultyUpstream,
  UPSTREAM_KEY,
  UPSTREAM_MODEL,
} from "../../../../test/support/upstreams/faulty-upstream.ts";
import type { ChatProxy, ForwardedEvent } from "../../../contracts/chat-proxy.ts";
import type { Fault } from "../../../kernel/faults.ts";
import { openAiCompatibleEngine } from "../openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "../settings.ts";

/** Timeouts of a row; without a timeout fault, long enough for a busy machine. */
const SHORT = { first_byte_timeout_seconds: 0.5, idle_timeout_seconds: 0.4, connect_timeout_seconds: 0.5 };
const LONG = { first_byte_timeout_seconds: 30, idle_timeout_seconds: 30, connect_timeout_seconds: 30 };

async function open(baseUrl: string, settings: object = {}) {
  const services = makeEngineServices({ name: "team-chat", catalogId: "team-chat" });
  const parsed = openAiCompatibleSettings.parse({
    base_url: baseUrl,
    api_key: UPSTREAM_KEY,
    model: UPSTREAM_MODEL,
    ...LONG,
    max_response_bytes: 1_000_000,
    ...settings,
  });
  const model = (await openAiCompatibleEngine.open(parsed, "chat", services)) as ChatProxy;
  return { model, logged: services.logged };
}

interface Outcome {
  events: ForwardedEvent[];
  text: string;
  fault: Fault | undefined;
  logged: string;
  /** Number of requests to the upstream. */
  requests: number;
}

type UrlOf = (upstream: FaultyUpstream) => string;
const urlOf =
  (fault: FaultName): UrlOf =>
  (upstream) =>
    upstream.baseUrlFor(fault);

/** Sends one request to a separate upstream, which must have no connection left afterwards. */
async function ask(baseUrlOf: UrlOf, stream: boolean, settings?: object): Promise<Outcome> {
  const upstream = await startFaultyUpstream();
  const { model, logged } = await open(baseUrlOf(upstream), settings);
  const events: ForwardedEvent[] = [];
  let fault: Fault | undefined;
  try {
    for await (const event of forward(
      model,
      makeChatCall({ model: "team-chat", stream }),
      new AbortController().signal,
    )) {
      events.push(event);
    }
  } catch (error) {
    fault = error as Fault;
  }
  await model.close();
  await eventually(() => expect(upstream.openSockets()).toBe(0));
  await upstream.close();
  const requests = [...upstream.requests.values()].reduce((sum, count) => sum + count, 0);
  return { events, text: events.map(textOf).join(""), fault, logged: logged.join("\n"), requests };
}

interface Expected {
  kind: Fault["kind"];
  code?: string | null;
  param?: string;
  message: RegExp;
  retryAfterSeconds?: number;
  /** Text streamed before the fault. */
  streamed?: string;
}

const failed = (message: RegExp, streamed = ""): Expected => ({
  kind: "upstream-failed",
  code: "upstream_error",
  message,
  streamed,
});
const late = (message: RegExp, streamed = ""): Expected => ({
  kind: "upstream-timeout",
  code: "upstream_timeout",
  message,
  streamed,
});

const BOTH: Partial<Record<FaultName, Expected>> = {
  "never-answers": late(/nothing for 0.5 seconds/),
  "headers-then-hangs": late(/nothing for 0.5 seconds/),
  "hangs-midway": late(/nothing for 0.4 seconds/, "abc"),
  "resets-at-once": failed(/broke the connection/),
  "resets-mid-chunk": failed(/broke the connection/, "abc"),
  "html-page": failed(/answered with a page/),
  "html-error": failed(/failed with status 502/),
  "error-with-200": failed(/failed with status 503/),
  "broken-gzip": failed(/cannot be decompressed/),
  redirects: failed(/redirect \(status 307\), which is not followed/),
  "rate-limited": { kind: "request-rate-limited", code: "rate_limit_exceeded", message: /takes no more requests/ },
  "rate-limited-for-7s": { kind: "request-rate-limited", message: /takes no more requests/, retryAfterSeconds: 7 },
  "refuses-key": { ...failed(/refused the deployment's key/), kind: "upstream-refused" },
  "refuses-request": {
    kind: "invalid-request",
    code: "40012",
    param: "temperature",
    message: /^team-chat cannot do that, says .*\[upstream\] with \[redacted\]$/,
  },
  "knows-no-model": { kind: "not-found", param: "model", message: /^The model `team-chat` does not exist\.$/ },
  "knows-no-path": failed(/failed with status 404/),
  fails: failed(/failed with status 500/),
  "huge-body": { ...failed(/longer than 1000000 bytes/), kind: "answer-unfit" },
};

const STREAMED: Partial<Record<FaultName, Expected>> = {
  ...BOTH,
  drips: late(/nothing for 0.5 seconds/),
  "ends-early": failed(/ended its answer before it was complete/, "abcdefgh"),
  "done-without-finish": failed(/ended its answer before it was complete/, "abcdefgh"),
  "malformed-json": failed(/an event that is not JSON/, "a"),
  "error-frame-first": failed(/failed with status 500/),
  "error-frame-midway": failed(/answered with an error/, "abc"),
};

const NOT_STREAMED: Partial<Record<FaultName, Expected>> = {
  ...BOTH,
  "ends-early": failed(/something other than JSON/),
  "malformed-json": failed(/something other than JSON/),
};

const rounds = [
  ...Object.entries(STREAMED).map(([fault, expected]) => [fault, true, expected] as const),
  ...Object.entries(NOT_STREAMED).map(([fault, expected]) => [fault, false, expected] as const),
];

const title = "reports %s (streamed: %s) as a Fault that reveals nothing of the upstream";
test.concurrent.each(rounds)(title, async (name, stream, expected) => {
  const timeouts = expected.kind === "upstream-timeout" ? SHORT : LONG;
  const { events, text, fault, logged, requests } = await ask(urlOf(name as FaultName), stream, timeouts);
  expect(requests).toBe(1);
  const { message, streamed, ...fields } = expected;
  expect(fault).toMatchObject({ name: "Fault", ...fields });
  expect(fault?.message).toMatch(message);
  expect(text).toBe(stream ? (streamed ?? "") : "");
  expect(events.some((event) => event.type === "finish")).toBe(false);
  expect(`${fault?.message}\n${logged}`).not.toContain(UPSTREAM_KEY);
  expect(fault?.message).not.toContain("127.0.0.1");
  expect(fault?.message).not.toContain(UPSTREAM_MODEL);
});

test.concurrent.each([true, false])("decompresses a gzip answer (streamed: %s)", async (stream) => {
  for (const fault of ["none", "gzip"] as const) {
    const { text, events, fault: failure } = await ask(urlOf(fault), stream);
    expect(failure).toBeUndefined();
    expect(text).toBe("abcdefgh");
    expect(events.at(-1)).toMatchObject({
      type: "finish",
      usage: { completionTokens: 8, estimated: false },
    });
  }
});

test.concurrent("reads a slow answer that completes in time", async () => {
  const { fault } = await ask(urlOf("drips"), false, {
    first_byte_timeout_seconds: 2,
    max_response_bytes: 1024,
  });
  expect(fault).toBeUndefined();
});

test.concurrent("reports a refused connection", async () => {
  const { fault } = await ask(({ refusingUrl }) => refusingUrl, true);
  expect(fault).toMatchObject({
    kind: "upstream-failed",
    message: "The upstream of `team-chat` refused the connection.",
  });
});

test.concurrent("reports a host name that does not resolve", async () => {
  const { fault } = await ask(() => "http://no-such-host.invalid/v1", true);
  expect(fault).toMatchObject({
    kind: "upstream-failed",
    message: expect.stringContaining("host name does not resolve"),
  });
});

test.concurrent("reports a TLS handshake that does not end", async () => {
  const { fault } = await ask(({ silentTlsUrl }) => silentTlsUrl, true, { connect_timeout_seconds: 0.5 });
  expect(fault).toMatchObject({
    kind: "upstream-timeout",
    message: expect.stringContaining("could not be connected to"),
  });
});

test.concurrent("reports an error whose body hangs by its status", async () => {
  const { fault } = await ask(urlOf("hangs-in-error"), true);
  expect(fault).toMatchObject({ kind: "upstream-failed", message: expect.stringContaining("failed with status 500") });
});

const PLACES: [string, UrlOf, number][] = [
  ["while it connects", ({ silentTlsUrl }) => silentTlsUrl, 0],
  ["before the first byte", urlOf("never-answers"), 0],
  ["between headers and text", urlOf("headers-then-hangs"), 0],
  ["mid-stream", urlOf("hangs-midway"), 1],
];

// Sequential, because it measures time.
test.each(PLACES)("closes the upstream's socket at once on an abort %s", async (_place, baseUrlOf, eventsBefore) => {
  const upstream = await startFaultyUpstream();
  onTestFinished(() => upstream.close());
  for (const stream of [true, false]) {
    const { model } = await open(baseUrlOf(upstream));
    const abort = new AbortController();
    const events: ForwardedEvent[] = [];
    const reading = (async () => {
      for await (const event of forward(model, makeChatCall({ stream }), abort.signal)) events.push(event);
    })();
    await expect.poll(() => upstream.openSockets()).toBe(1);
    if (stream) await expect.poll(() => events.length).toBe(eventsBefore);
    await delay(20);
    const abortedAt = performance.now();
    abort.abort();
    await reading;
    await expect.poll(() => upstream.openSockets(), { interval: 5 }).toBe(0);
    // The documented limit is 100 ms; the rest allows for a busy machine.
    expectWithin(abortedAt, 1000);
    expect(events).toHaveLength(stream ? eventsBefore : 0);
    await model.close();
  }
});

test("retries on a new connection when the upstream closed an idle one", async () => {
  const upstream = await startFaultyUpstream();
  onTestFinished(() => upstream.close());
  const { model } = await open(upstream.baseUrlFor("none"));
  for (let round = 0; round < 20; round += 1) {
    const { text } = await readAnswer(forward(model, makeChatCall(), new AbortController().signal));
    expect(text).toBe("abcdefgh");
    if (round % 2 === 1) upstream.closeIdle();
  }
  await model.close();
});
