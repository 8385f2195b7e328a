import { expect, test } from "vitest";
import type { GenerationEvent, TokenLogprob } from "../types.ts";
import { ChoiceEvents } from "./choice-events.ts";
import type { OutputSyntax } from "./output-parser.ts";

const plain: OutputSyntax = { start: "content", isReasoningDone: false, reasoning: undefined, calls: undefined };
const thinking: OutputSyntax = {
  ...plain,
  start: "reasoning",
  reasoning: { open: "<think>", close: "</think>", frame: [], beforeContent: "", beforeCall: "" },
};

/** Texts of the output, each with the tokens whose log probabilities it carries. */
function read(
  syntax: OutputSyntax,
  tokens: readonly string[],
  stop: readonly string[] = [],
): Array<[string, string[]]> {
  const texts: Array<[string, string[]]> = [];
  const emit = (event: GenerationEvent) => {
    if (event.type === "text") texts.push([event.text, (event.logprobs ?? []).map(({ token }) => token)]);
  };
  const events = new ChoiceEvents({ choice: 0, syntax, stop, completionTokens: () => 0, emit });
  for (const token of tokens) {
    const logprob: TokenLogprob = { token, logprob: -1, bytes: [], top: [] };
    for (let transition = events.push(token, logprob); transition !== undefined && transition.rest !== ""; ) {
      transition = events.push(transition.rest);
    }
  }
  events.end();
  return texts;
}

test("emits log probabilities with the text of their tokens", () => {
  expect(read(plain, ["", "é", "!"])).toEqual([
    ["é", ["", "é"]],
    ["!", ["!"]],
  ]);
});

test("omits the tag that ends the reasoning", () => {
  expect(read(thinking, ["so", "</think>", "Hi"])).toEqual([["Hi", ["Hi"]]]);
  expect(read(thinking, ["so", "</think>Hi", "!"])).toEqual([
    ["Hi", ["</think>Hi"]],
    ["!", ["!"]],
  ]);
});

test("emits the log probability of a truncated character", () => {
  expect(read(plain, ["Hi", ""])).toEqual([
    ["Hi", ["Hi"]],
    ["", [""]],
  ]);
});

test("omits the tokens of a stop sequence", () => {
  expect(read(plain, ["Hi", " ST", "OP"], [" STOP"])).toEqual([["Hi", ["Hi"]]]);
});
