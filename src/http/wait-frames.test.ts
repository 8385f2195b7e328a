import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChatEvent } from "../contracts/chat-model.ts";
import type { FormatAnswer } from "../wire/chat-format.ts";
import { chatCompletionsFormat } from "../wire/openai/chat/chat-completions.ts";
import { responsesFormat } from "../wire/responses/responses-format.ts";
import { WaitFrames } from "./wait-frames.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const context = { callerHeaders: {}, unknownFields: "ignore", requestId: "req_1" } as const;
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0, estimated: false };

async function* events(): AsyncGenerator<ChatEvent> {
  yield { type: "text", choice: 0, text: "Done.", completionTokens: 1 };
  yield { type: "choice-end", choice: 0, reason: "stop" };
  yield { type: "finish", usage };
}

const newAnswer = (): FormatAnswer => ({ id: "late", createdAt: 0, model: "far", isUpstream: true, events: events() });

test("a response is created before an upstream has begun its answer, once", async () => {
  const chat = responsesFormat.read({ model: "far", input: "Hi", stream: true }, context);
  const waiting = new WaitFrames<FormatAnswer>((reason) => responsesFormat.waitFrame(reason, chat));
  const answering = Promise.withResolvers<FormatAnswer>();
  const first = waiting.answerOrWait(answering.promise);
  waiting.onWait("answering");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await first).toBeUndefined();
  const frames = waiting.until(answering.promise, (answer) => responsesFormat.frames(answer, chat));
  const created = String((await frames.next()).value);
  expect(created).toMatch(/^event: response\.created\n.*\n\nevent: response\.in_progress\n/);
  answering.resolve(newAnswer());
  let rest = "";
  for await (const frame of frames) rest += String(frame);
  expect(rest).not.toContain("response.created");
  const ids = new Set([...(created + rest).matchAll(/"response":\{"id":"(\w+)"/g)].map(([, id]) => id));
  expect(ids.size).toBe(1);
  const numbers = [...(created + rest).matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(numbers.map((_number, index) => index));
  expect(rest).toMatch(/event: response\.completed\n.*"text":"Done\."/);
});

test("other formats send a comment, and an answer in time sends none", async () => {
  const chat = chatCompletionsFormat.read(
    { model: "far", messages: [{ role: "user", content: "Hi" }], stream: true },
    context,
  );
  const waiting = new WaitFrames<FormatAnswer>((reason) => chatCompletionsFormat.waitFrame(reason, chat));
  waiting.onWait("forwarding");
  await vi.advanceTimersByTimeAsync(9_000);
  const answer = newAnswer();
  expect(await waiting.answerOrWait(Promise.resolve(answer))).toBe(answer);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await waiting.answerOrWait(new Promise(() => {}))).toBeUndefined();
  const frames = waiting.until(new Promise(() => {}), () => events() as never);
  expect((await frames.next()).value).toBe(": forwarding\n\n");
});
