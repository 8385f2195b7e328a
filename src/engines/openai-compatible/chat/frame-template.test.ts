import { expect, test } from "vitest";
import { FrameTemplate } from "./frame-template.ts";

const frameOf = (model: string, content: string, rest: object = {}) =>
  `data: ${JSON.stringify({ id: "1", model, choices: [{ delta: { content, ...rest }, finish_reason: null }] })}\n\n`;

const template = FrameTemplate.of(frameOf("own", "a"), frameOf("shown", "a"));

test.each(["b", "", 'a "quoted" \\ text', "\n", '"model":"own"'])(
  "rewrites a frame that differs in %j only",
  (content) => {
    const before = ": ping\n\n";
    expect(template?.rewrite(before + frameOf("own", content) + before, before.length)).toBe(frameOf("shown", content));
    expect(template?.end).toBe(before.length + frameOf("own", content).length);
  },
);

test.each([
  ["another model", frameOf("other", "a")],
  ["another key", frameOf("own", "a", { error: 1 })],
  ["a finish reason", frameOf("own", "a").replace("null", '"stop"')],
  ["no end", frameOf("own", "a").slice(0, -4)],
  ["no end of its string", frameOf("own", "a").slice(0, -38)],
])("does not match a frame with %s", (_name, frame) => {
  expect(template?.rewrite(frame, 0)).toBeUndefined();
});

test("supports several varying strings at any position", () => {
  const write = (content: string, obfuscation: string) =>
    `data: ${JSON.stringify({ choices: [{ delta: { content } }], model: "own", obfuscation })}\n\n`;
  const two = FrameTemplate.of(write("a", "x"), write("a", "x").replace("own", "shown"));
  expect(two?.rewrite(write("hello", "yyy"), 0)).toBe(write("hello", "yyy").replace("own", "shown"));
});

test("returns no template for identical frames", () => {
  expect(FrameTemplate.of('data: {"model":"x"}\n\n', 'data: {"model":"y"}\n\n')).toBeUndefined();
});
