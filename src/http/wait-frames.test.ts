import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChatEvent } from "../contracts/chat-model.ts";
import type { ForwardedEvent } from "../contracts/chat-proxy.ts";
import { parseEvents } from "../kernel/server-sent-events.ts";
import { type FormatAnswer, renderFrames } from "../wire/chat-format.ts";
import { chatCompletionsFormat } from "../wire/openai/chat/chat-completions.ts";
import type { ResponseEvent } from "../wire/responses/output-item.ts";
import { toResponseFrame } from "../wire/responses/response-events.ts";
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

test("a stream that has begun goes on with the events of an upstream that speaks Responses", async () => {
  const chat = responsesFormat.read({ model: "far", input: "Hi", stream: true }, context);
  const saved: unknown[] = [];
  chat.save = async ({ id }) => saved.push(id) > 0;
  const created = responsesFormat.waitFrame("answering", chat);
  async function* upstream(): AsyncGenerator<ForwardedEvent> {
    const response = { id: "resp_upstream", created_at: 1, status: "in_progress", output: [] };
    const frame = (events: ResponseEvent[]) => Buffer.from(events.map(toResponseFrame).join(""));
    const first = ["response.created", "response.in_progress"].map((type, index) => ({
      type,
      sequence_number: index,
      response,
    }));
    const delta = { type: "response.output_text.delta", sequence_number: 2, item_id: "msg_1", delta: "Done." };
    yield { type: "frames", frames: frame(first), completionTokens: 0 };
    yield { type: "frames", frames: frame([delta]), completionTokens: 1 };
    const fields = { type: "response.completed", sequence_number: 3, response: { ...response, status: "completed" } };
    yield { type: "finish", usage, completion: { fields, json: JSON.stringify(fields) } };
  }
  let rest = "";
  for await (const frame of renderFrames(responsesFormat, { ...newAnswer(), bytes: upstream() }, chat)) {
    rest += String(frame);
  }
  const read = (frames: string) => parseEvents(frames).map(({ data }) => JSON.parse(data) as ResponseEvent);
  const begun = read(created);
  const all = [...begun, ...read(rest)];
  expect(all.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_text.delta",
    "response.completed",
  ]);
  expect(all.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3]);
  const [{ response }] = begun as [ResponseEvent];
  const { id, created_at } = response as { id: string; created_at: number };
  expect(all.at(-1)?.response).toMatchObject({ id, created_at, status: "completed", store: true });
  expect(saved).toEqual([id]);
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
