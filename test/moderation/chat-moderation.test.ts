/** The field `moderation` of a chat, with the real default moderation model and the official client. */

import { BadRequestError } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilModerationReady } from "../support/models/moderation-ready.ts";
import { type Service, startService } from "../support/service/service.ts";

const HARMFUL = "I will find you and kill you, and then I will kill your whole family.";
const HARMLESS = "The meeting begins at ten, and the minutes will follow tomorrow. ".repeat(8);

const config = `
builtin_models: false
models:
  - id: guard
    task: moderation
    deployments:
      - engine: classifier
  - id: seer
    task: chat
    deployments: [{ engine: scripted, echo: true, abilities: { vision: true } }]
  - id: parrot
    task: chat
    deployments:
      - engine: scripted
        replies:
          - match: /threat/i
            text: "${HARMLESS}${HARMFUL} ${HARMLESS}"
          - text: "${HARMLESS}"
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config });
  await untilModerationReady(service, "guard");
});
afterAll(() => service.stop());

const ask = (content: string) => ({ model: "parrot", messages: [{ role: "user" as const, content }] });
type Mode = "score" | "block";
const policy = (input: Mode, output: Mode) => ({
  moderation: { model: "guard", policy: { input: { mode: input }, output: { mode: output } } },
});
const client = () => service.client({ maxRetries: 0 }).chat.completions;

const found = (flagged: boolean) => ({
  type: "moderation_results",
  model: "guard",
  results: [{ type: "moderation_result", model: "guard", flagged, category_scores: { violence: expect.any(Number) } }],
});

async function streamed(content: string, moderation: ReturnType<typeof policy>) {
  const stream = await client().create({ ...ask(content), ...moderation, stream: true });
  const chunks = await Array.fromAsync(stream);
  return {
    text: chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""),
    reason: chunks.findLast(({ choices }) => choices[0]?.finish_reason)?.choices[0]?.finish_reason,
    moderation: chunks.findLast((chunk) => chunk.moderation !== undefined)?.moderation,
    chunkCount: chunks.length,
  };
}

test("adds the scores of messages and answer in score mode, and changes nothing else", async () => {
  const harmless = await client().create({ ...ask("Hello!"), moderation: { model: "guard" } });
  expect(harmless).toMatchObject({
    choices: [{ message: { content: HARMLESS }, finish_reason: "stop" }],
    moderation: { input: found(false), output: found(false) },
  });
  const harmful = await client().create({ ...ask(`${HARMFUL} A threat, please.`), ...policy("score", "score") });
  expect(harmful).toMatchObject({
    choices: [{ message: { content: expect.stringContaining(HARMFUL) } }],
    moderation: { input: found(true), output: found(true) },
  });
});

test("returns 400 for flagged messages in block mode", async () => {
  const refused = client().create({ ...ask(HARMFUL), ...policy("block", "score") });
  await expect(refused).rejects.toBeInstanceOf(BadRequestError);
  await expect(refused).rejects.toMatchObject({ status: 400, code: "content_policy_violation", param: "messages" });
  const stream = client().create({ ...ask(HARMFUL), ...policy("block", "block"), stream: true });
  await expect(stream).rejects.toMatchObject({ status: 400, code: "content_policy_violation" });
});

const FRAGMENTS = ["I will fi", "nd you and", " kill yo", "u, and t", "hen I will", " kill your", " whole fa", "mily."];

test.each([
  ["in eight messages", FRAGMENTS.map((content) => ({ role: "user" as const, content }))],
  [
    "in messages with harmless answers in between",
    FRAGMENTS.flatMap((content) => [
      { role: "user" as const, content },
      { role: "assistant" as const, content: "Thank you, please go on." },
    ]),
  ],
])("blocks flagged text that comes %s", async (_how, messages) => {
  const refused = client().create({ model: "parrot", messages, ...policy("block", "score") });
  await expect(refused).rejects.toMatchObject({ status: 400, code: "content_policy_violation", param: "messages" });
});

test("blocks flagged text in a field that only some models read", async () => {
  const message = { role: "assistant" as const, content: "Yes.", reasoning_content: HARMFUL };
  const refused = client().create({ model: "parrot", messages: [message], ...policy("block", "score") });
  await expect(refused).rejects.toMatchObject({ status: 400, code: "content_policy_violation", param: "messages" });
});

test("ends a flagged answer with the finish reason content_filter", async () => {
  const answer = await client().create({ ...ask("a threat, please"), ...policy("score", "block") });
  expect(answer.choices[0]?.finish_reason).toBe("content_filter");
  expect(answer.choices[0]?.message.content).not.toContain("kill");
});

test("ends a flagged stream with content_filter before sending the flagged text", async () => {
  const { text, reason, moderation } = await streamed("a threat, please", policy("block", "block"));
  expect(reason).toBe("content_filter");
  expect(text).not.toContain("kill");
  expect(HARMLESS.startsWith(text)).toBe(true);
  expect(text.length).toBeGreaterThan(100);
  expect(moderation).toMatchObject({ input: found(false), output: found(true) });
});

test("streams a harmless answer completely and in parts", async () => {
  const { text, reason, chunkCount } = await streamed("Hello!", policy("block", "block"));
  expect(text).toBe(HARMLESS);
  expect(reason).toBe("stop");
  expect(chunkCount).toBeGreaterThan(10);
});

test("rejects an image, which cannot be moderated, in block mode", async () => {
  const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AA==" } };
  const body = { model: "seer", messages: [{ role: "user" as const, content: [image] }] };
  const refused = client().create({ ...body, ...policy("block", "score") });
  await expect(refused).rejects.toMatchObject({ status: 400, param: "messages[0].content[0].type" });
  const scored = await client().create({ ...body, ...policy("score", "score") });
  expect(scored.choices).toHaveLength(1);
});

test.each<[moderation: object, param: string]>([
  [{ model: 7 }, "moderation.model"],
  [{ policy: { input: { mode: "maybe" } } }, "moderation.policy.input.mode"],
  [{ policy: { inputs: { mode: "block" } } }, "moderation.policy.inputs"],
])("rejects %j and names the field", async (moderation, param) => {
  const response = await service.post("/v1/chat/completions", { ...ask("hi"), moderation });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param } });
});

test("returns 404 for an unknown moderation model without calling the chat model", async () => {
  const moderation = { model: "nope", policy: { input: { mode: "block" } } };
  const response = await service.post("/v1/chat/completions", { ...ask("hi"), moderation });
  expect(response.status).toBe(404);
});
