/** Moderation by a cascade: a scripted classifier that is unsure about "kill", and a scripted upstream as its guard. */

import { APIError } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { untilModerationReady } from "../support/models/moderation-ready.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const HARMFUL = "I will kill you.";
const HARMLESS = "How do I kill a process?";
const FILLER = "The minutes will follow tomorrow. ";

let upstream: OpenAiUpstream;
let service: Service;
beforeAll(async () => {
  const replies = [
    { match: "hang", text: "safe", delay_ms_before_first: 60_000 },
    { match: "mumble", text: "I cannot say." },
    { match: "kill you", text: "unsafe\nS1" },
    { text: "safe" },
  ];
  upstream = await startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies })));
  const classifier = `
        classifier:
          engine: guard
          family: qwen3guard-gen
          chat:
            engine: scripted
            replies:
              - { match: massacre, text: "Safety: Unsafe\\nCategories: Violent" }
              - { match: kill, text: "Safety: Controversial\\nCategories: Violent" }
              - { text: "Safety: Safe\\nCategories: None" }
        guard:
          engine: guard
          family: llama-guard-3
          chat: { engine: openai-compatible, base_url: "${upstream.baseUrl}", model: guard, abilities: { logprobs: false } }`;
  service = await startService({
    config: `
builtin_models: false
models:
  - id: cascade
    task: moderation
    deployments:
      - engine: cascade${classifier}
  - id: lenient
    task: moderation
    deployments:
      - engine: cascade
        on_guard_failure: classifier${classifier}
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`,
  });
  await untilModerationReady(service, "cascade");
  await untilModerationReady(service, "lenient");
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

const askedTexts = () => upstream.received.map(({ body }) => (body.messages as { content: string }[]).at(-1)?.content);

test("flags unsure texts as the guard does, and asks it about no others", async () => {
  const before = askedTexts().length;
  const input = ["Good morning!", HARMFUL, HARMLESS, "Describe the massacre."];
  const { results } = await service.client().moderations.create({ model: "cascade", input });
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true, false, true]);
  expect(results[1]?.categories).toMatchObject({ violence: true, hate: false });
  expect(results[2]?.category_scores.violence).toBeLessThan(0.5);
  expect(askedTexts().slice(before)).toEqual([HARMFUL, HARMLESS]);
});

test("records the tokens of the texts once", async () => {
  const response = await service.post("/v1/moderations", { model: "cascade", input: [HARMFUL, HARMLESS] });
  const line = () => service.log().find(({ requestId }) => requestId === response.headers.get("x-request-id"));
  await eventually(() => expect(line()).toMatchObject({ outcome: "finished", promptTokens: expect.any(Number) }));
  expect(line()?.promptTokens).toBeLessThan(20);
});

test.each<[string, boolean]>([
  ["cascade", false],
  ["lenient", true],
])("while the guard gives no verdict, %s answers: %s", async (model, answers) => {
  const create = (input: string) => service.client({ maxRetries: 0 }).moderations.create({ model, input });
  if (answers) expect((await create("mumble kill")).results[0]).toMatchObject({ categories: { violence: true } });
  else
    await expect(create("mumble kill")).rejects.toSatisfy((error) => error instanceof APIError && error.status === 502);
  expect((await create("Good morning!")).results[0]?.flagged).toBe(false);
});

const moderated = (content: string, stream: boolean) => ({
  ...{ model: "parrot", messages: [{ role: "user", content }], stream },
  moderation: { model: "cascade", policy: { output: { mode: "block" } } },
});

test.each([
  ["ends a streamed answer that the guard finds harmful", HARMFUL, "content_filter"],
  ["streams an answer to its end that the guard finds harmless", HARMLESS, "stop"],
])("%s", async (_what, text, reason) => {
  const body = moderated(`${FILLER.repeat(12)}${text} ${FILLER.repeat(3)}`, true);
  const stream = await (await service.post("/v1/chat/completions", body)).text();
  expect(stream).toContain("minutes");
  expect(stream.includes("kill")).toBe(reason === "stop");
  expect(stream).toContain(`"finish_reason":"${reason}"`);
});

test("fails a blocking chat closed in mid-stream when the guard fails", async () => {
  const body = moderated(`${FILLER.repeat(12)} mumble kill ${FILLER.repeat(12)}`, true);
  const stream = await (await service.post("/v1/chat/completions", body)).text();
  expect(stream).toContain("minutes");
  expect(stream).not.toContain("kill");
  expect(stream.trim().split("\n").at(-1)).toContain('"error"');
});

test("stops asking the guard when the client disconnects", async () => {
  const leaving = new AbortController();
  const idle = upstream.openSockets();
  const body = { model: "cascade", input: "hang and kill" };
  const response = service.post("/v1/moderations", body, { signal: leaving.signal });
  await eventually(() => expect(askedTexts().at(-1)).toBe("hang and kill"));
  const busy = upstream.openSockets();
  leaving.abort();
  await response.catch(() => {});
  await eventually(() => expect(upstream.openSockets()).toBeLessThan(Math.max(busy, idle)));
});

test("lists the classifier's categories and thresholds", async () => {
  const { data } = (await (await service.fetch("/v1/models?include_metadata=true")).json()) as {
    data: { id: string; metadata: { thresholds: Record<string, number> | null } }[];
  };
  expect(data.find(({ id }) => id === "cascade")?.metadata.thresholds).toMatchObject({ violence: 0.5, hate: 0.5 });
});
