import { describe, expect, test } from "vitest";
import { framesOf } from "../../../../test/support/service/read-answer.ts";
import { ChatFrames } from "./chat-frames.ts";

const frame = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const latin1 = (text: string) => Buffer.from(text).toString("latin1");

/** One answer in the styles of several upstreams. */
const STYLES: Record<string, (content: string, finish: string | null) => string> = {
  openai: (content, finish) =>
    frame({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1700000000,
      model: "own-name",
      system_fingerprint: null,
      choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: finish }],
      usage: null,
      obfuscation: "r4nd0m".slice(0, 1 + (content.length % 5)),
    }),
  vllm: (content, finish) =>
    frame({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1700000000,
      model: "own-name",
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    }),
  "llama-server": (content, finish) =>
    frame({
      choices: [{ finish_reason: finish, index: 0, delta: { content } }],
      created: 1700000000 + content.length,
      id: "chatcmpl-1",
      model: "own-name",
      system_fingerprint: "b1",
      object: "chat.completion.chunk",
    }),
  "python's own spacing": (content, finish) =>
    `data: {"id": "chatcmpl-1", "model": "own-name", "choices": [{"index": 0, "delta": {"content": ${JSON.stringify(content)}}, "finish_reason": ${JSON.stringify(finish)}}]}\n\n`,
  "without id and model": (content, finish) =>
    frame({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] }),
  "an inner model": (content, finish) =>
    frame({
      id: "chatcmpl-1",
      provider: { model: "inner" },
      model: "own-name",
      choices: [{ delta: { content }, finish_reason: finish }],
    }),
};

const PIECES = ["Hi", '"model":"own-name"', 'say "error": 1', "très 🐉", '"finish_reason":"stop"', "\\", "\n\n", "end"];

describe.each(Object.entries(STYLES))("frames in the style %s", (name, write) => {
  const sent = PIECES.map((piece) => write(piece, null));
  sent.push(
    write("", "stop"),
    frame({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 8 } }),
    frame("[DONE]"),
  );

  test.each([1, 3, 100])("are forwarded with only model and missing ids changed, %i at a time", (count) => {
    const frames = new ChatFrames({ model: "catalog/é", choices: 1, streamOptions: { include_usage: true } });
    let out = "";
    for (let at = 0; at < sent.length; at += count) out += frames.rewrite(latin1(sent.slice(at, at + count).join("")));
    const got = framesOf(Buffer.from(out, "latin1"));
    const ids = new Set(got.map((each) => each.id));
    expect(ids.size).toBe(1);
    const [id] = [...ids];
    if (name !== "without id and model") expect(id).toBe("chatcmpl-1");
    expect(got).toEqual(
      framesOf(Buffer.from(sent.slice(0, -2).join(""))).map((each) => ({ ...each, id, model: "catalog/é" })),
    );
    expect(frames).toMatchObject({ isDone: true, isComplete: true, finishReason: "stop", failure: undefined });
    expect(frames.usage).toEqual({
      promptTokens: 3,
      completionTokens: 8,
      cachedTokens: 0,
      reasoningTokens: 0,
      estimated: false,
    });
    expect(frames.estimatedTokens).toBeGreaterThanOrEqual(PIECES.length + 1);
  });
});

const first = STYLES.vllm?.("a", null) ?? "";

function rewrite(...sent: string[]): { out: string; frames: ChatFrames } {
  const frames = new ChatFrames({ model: "m", choices: 1 });
  return { out: sent.map((each) => frames.rewrite(latin1(each))).join(""), frames };
}

const WRONG: [name: string, frame: string, problem: RegExp][] = [
  ["an error object", frame({ error: { message: "no" } }), /answered with an error/],
  ["an error as text", frame({ error: "no" }), /answered with an error/],
  ["an error event", 'event: error\ndata: {"message":"no"}\n\n', /error event/],
  [
    "an error beside choices",
    first.replace('"choices"', '"error":{"message":"no"},"choices"'),
    /answered with an error/,
  ],
  ["a choice that ended with an error", STYLES.vllm?.("", "error") ?? "", /ended a choice with an error/],
  ["a frame cut short", `${first.slice(0, -8)}\n\n`, /not JSON/],
  ["a frame cut short after a brace", `${first.slice(0, first.indexOf('"finish_reason"') - 1)}\n\n`, /not JSON/],
  ["text that is not JSON", "data: hello\n\n", /not JSON/],
  ["JSON that is not an object", "data: [1]\n\n", /not a JSON object/],
];

test.each(WRONG)("reports %s after the valid frames before it", (_name, wrong, problem) => {
  const { out, frames } = rewrite(first, first + wrong + first);
  expect(framesOf(Buffer.from(out, "latin1"))).toHaveLength(2);
  expect(frames.failure?.problem).toMatch(problem);
});

test("omits comments, and reads data in several lines", () => {
  const { out, frames } = rewrite(": OPENROUTER PROCESSING\n\n", 'data: {"model":"x",\ndata: "choices":[]}\nid: 4\n\n');
  expect(framesOf(Buffer.from(out, "latin1"))).toMatchObject([{ model: "m", choices: [] }]);
  expect(frames.failure).toBeUndefined();
});

const usage = { prompt_tokens: 1, completion_tokens: 2 };

test.each([
  ["an empty delta", { index: 0, delta: {} }],
  ["an empty delta and no reason", { index: 0, delta: { content: "", role: "assistant" }, finish_reason: null }],
  ["the end again", { index: 0, delta: {}, finish_reason: "stop" }],
  ["an empty text", { index: 0, text: "", logprobs: null }],
])("drops a frame with usage and a choice with %s", (_name, choice) => {
  const { out, frames } = rewrite(first, STYLES.vllm?.("", "stop") ?? "", frame({ choices: [choice], usage }));
  expect(framesOf(Buffer.from(out, "latin1"))).toHaveLength(2);
  expect(frames.usage).toMatchObject({ promptTokens: 1, completionTokens: 2 });
});

test.each([
  ["no usage", {}, []],
  ["usage", { include_usage: true }, [null, null]],
  ["usage in each chunk", { include_usage: true, continuous_usage_stats: true }, [usage, null]],
])("forwards the usage in frames of text to callers who asked for %s", (_name, streamOptions, expected) => {
  const frames = new ChatFrames({ model: "m", choices: 1, streamOptions });
  const written = ["a", "b"].map((content, index) =>
    frame({ model: "x", choices: [{ index: 0, delta: { content } }], usage: index === 0 ? usage : null }),
  );
  const out = framesOf(Buffer.from(frames.rewrite(written.join("")), "latin1")) as { usage?: unknown }[];
  expect(out.filter((each) => "usage" in each).map((each) => each.usage)).toEqual(expected);
});

test("takes usage out of the last choice's frame", () => {
  const last = STYLES.vllm?.("", "length").replace(
    '"choices"',
    '"usage":{"prompt_tokens":1,"completion_tokens":2},"choices"',
  );
  const { out, frames } = rewrite(first, last ?? "");
  expect(framesOf(Buffer.from(out, "latin1"))[1]).toMatchObject({ model: "m", choices: [{ finish_reason: "length" }] });
  expect(out).not.toContain("usage");
  expect(frames).toMatchObject({ finishReason: "length", isComplete: true, isDone: false });
  expect(frames.usage).toMatchObject({ promptTokens: 1, completionTokens: 2 });
});

test("is complete once each choice has ended", () => {
  const frames = new ChatFrames({ model: "m", choices: 2 });
  const end = (index: number) => frame({ choices: [{ index, delta: {}, finish_reason: "stop" }] });
  frames.rewrite(end(0));
  expect(frames.isComplete).toBe(false);
  // Includes usage, as some upstreams do.
  frames.rewrite(end(0));
  expect(frames.isComplete).toBe(false);
  frames.rewrite(end(1));
  expect(frames.isComplete).toBe(true);
});

test("treats an empty finish_reason as missing", () => {
  const { out, frames } = rewrite(STYLES.vllm?.("a", "") ?? "", STYLES.vllm?.("b", "") ?? "");
  expect(framesOf(Buffer.from(out, "latin1"))).toHaveLength(2);
  expect(frames.isComplete).toBe(false);
  frames.rewrite(STYLES.vllm?.("", "stop") ?? "");
  expect(frames).toMatchObject({ isComplete: true, finishReason: "stop" });
});

test("reports usage in a frame of the same answer, with the upstream's details", () => {
  const usage = {
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    completion_tokens_details: { reasoning_tokens: 1 },
  };
  const { frames } = rewrite(first, frame({ choices: [], usage }));
  const reported = frames.usage;
  expect(reported).toBeDefined();
  if (reported === undefined) return;
  expect(framesOf(frames.usageFrame(reported))).toEqual([
    { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1700000000, model: "m", choices: [], usage },
  ]);
});

test("estimates tokens from the text when a frame contains several", () => {
  const text = "word ".repeat(5_000);
  const parsed = rewrite(STYLES.vllm?.(text, null) ?? "");
  expect(parsed.frames.estimatedTokens).toBe(text.length / 4);
  const templated = rewrite(first, STYLES.vllm?.(text, null) ?? "");
  expect(templated.frames.estimatedTokens).toBeGreaterThanOrEqual(text.length / 4);
});
