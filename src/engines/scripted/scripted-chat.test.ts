import { expect, test, vi } from "vitest";
import { z } from "zod";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import { scriptedEngine } from "./scripted-engine.ts";
import { scriptedSettings } from "./settings.ts";
import { tokenize } from "./tokenize.ts";

const never = () => new AbortController().signal;

async function open(settings: object): Promise<ChatModel> {
  return (await scriptedEngine.open(scriptedSettings.parse(settings), "chat", makeEngineServices())) as ChatModel;
}

async function say(settings: object, request: Parameters<typeof makeChatRequest>[0]) {
  return readAnswer((await open(settings)).chat(makeChatRequest(request), never()));
}

const REPLIES = [
  { match: "weather", text: "Sunny, all day." },
  { match: "/^\\d+ \\+ \\d+$/", text: "4" },
  { match: "end", text: "No.", finish_reason: "content_filter" },
];

test.each([
  ["How is the weather?", "Sunny, all day.", "stop"],
  ["2 + 2", "4", "stop"],
  ["Is this the end?", "No.", "content_filter"],
  ["Something else", "Something else", "stop"],
])("answers %j with %j", async (asked, text, reason) => {
  const answer = await say({ replies: REPLIES, echo: true }, { say: asked });
  expect(answer.text).toBe(text);
  expect(answer.reason).toBe(reason);
});

test("rejects a message that no reply matches", async () => {
  await expect(say({ replies: REPLIES }, { say: "Hi" })).rejects.toMatchObject({
    kind: "invalid-request",
    param: "messages",
  });
});

test("counts its tokens", async () => {
  const { finish } = await say({ echo: true }, { say: "one two considerably" });
  expect(finish?.usage).toEqual({
    promptTokens: 5,
    completionTokens: 4,
    cachedTokens: 0,
    reasoningTokens: 0,
    estimated: false,
  });
});

test.each(["", " ", "a b", "  lead and trail  \n", "très 🐉🐉🐉🐉🐉🐉🐉🐉🐉 long", "日本語のとても長い文章です"])(
  "restores %j from its tokens",
  (text) => {
    expect(tokenize(text).join("")).toBe(text);
    for (const token of tokenize(text)) expect(token.isWellFormed()).toBe(true);
  },
);

test("counts the tokens of a stop sequence but does not emit it", async () => {
  const { text, finish, reason } = await say({ echo: true }, { say: "one two three four", stop: ["wo thr"] });
  expect(text).toBe("one t");
  expect(reason).toBe("stop");
  expect(finish).toMatchObject({ usage: { completionTokens: 3 } });
});

test("limits the answer to the context window", async () => {
  const { finish, reason } = await say({ replies: [{ text: "a b c d e f g" }], context_window: 8 }, { say: "one two" });
  expect(reason).toBe("length");
  expect(finish).toMatchObject({ usage: { promptTokens: 3, completionTokens: 5 } });
});

test("fails after the configured number of tokens", async () => {
  const fail_with = { kind: "upstream-failed", message: "Down.", code: "upstream_error", retry_after_seconds: 3 };
  const model = await open({ replies: [{ text: "one two three", fail_after_tokens: 2, fail_with }] });
  const events: string[] = [];
  const reading = (async () => {
    for await (const event of model.chat(makeChatRequest(), never())) events.push(event.type);
  })();
  await expect(reading).rejects.toMatchObject({
    kind: "upstream-failed",
    code: "upstream_error",
    retryAfterSeconds: 3,
  });
  expect(events).toEqual(["start", "text", "text"]);
});

test("fails before the answer begins, also with an error that is not a Fault", async () => {
  const model = await open({
    replies: [{ text: "one", fail_after_tokens: 0, fail_with: { kind: "bug", message: "oops" } }],
  });
  const events = model.chat(makeChatRequest(), never())[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ name: "Error", message: "oops" });
});

test("ends a delay when the request is aborted", async () => {
  const model = await open({ replies: [{ text: "one", delay_ms_before_first: 60_000 }] });
  const abort = new AbortController();
  const reading = readAnswer(model.chat(makeChatRequest(), abort.signal));
  abort.abort();
  expect((await reading).events).toEqual([]);
});

test.each(["SIGSEGV", "SIGKILL"])("fails its requests after a crash by %s and restarts", async (crash_signal) => {
  const replies = [{ match: "crash", text: "one two three", crash_after_tokens: 1, crash_signal }];
  const model = await open({ replies, echo: true, process: "child" });
  const texts: string[] = [];
  const reading = (async () => {
    const request = makeChatRequest({ say: "crash" });
    for await (const event of model.chat(request, never())) if (event.type === "text") texts.push(event.text);
  })();
  await expect(reading).rejects.toMatchObject({ name: "Fault", kind: "unavailable", code: "engine_failed" });
  expect(texts).toEqual(["one"]);
  expect(model.health().state).not.toBe("up");
  await expect.poll(() => model.health().state).toBe("up");
  const { text } = await readAnswer(model.chat(makeChatRequest({ say: "Still there?" }), never()));
  expect(text).toBe("Still there?");
  await model.close();
});

test.each([
  [{ replies: [{ crash_after_tokens: 1 }] }, /process: child/],
  [{}, /needs `replies`/],
  [{ replies: [{ match: "/(/", text: "x" }] }, /Unterminated group|Invalid regular expression/],
  [{ echo: true, slots: 0 }, /slots/],
])("rejects the settings %j", (settings, problem) => {
  expect(z.prettifyError(scriptedSettings.safeParse(settings).error as z.ZodError)).toMatch(problem);
});

test("rejects a crash without PARLANCE_TEST_ENGINES=1", () => {
  vi.stubEnv("PARLANCE_TEST_ENGINES", "");
  const { error } = scriptedSettings.safeParse({ process: "child", replies: [{ crash_after_tokens: 1 }] });
  vi.unstubAllEnvs();
  expect(error?.issues[0]?.message).toContain("needs the environment variable PARLANCE_TEST_ENGINES=1");
});
