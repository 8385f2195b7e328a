import { expect, test } from "vitest";
import type { ChatEvent, TokenLogprob } from "../chat-model.ts";
import type { AnswerShape } from "./answer-parts.ts";
import { ChoiceEvents } from "./choice-events.ts";

const plain: AnswerShape = { start: "content", hasThought: false, reasoning: undefined, calls: undefined };
const thinking: AnswerShape = {
  ...plain,
  start: "reasoning",
  reasoning: { open: "<think>", close: "</think>", frame: [], beforeAnswer: "", beforeCall: "" },
};

/** Texts of the answer, with the tokens whose log probabilities come with each. */
function read(shape: AnswerShape, tokens: readonly string[], stop: readonly string[] = []): Array<[string, string[]]> {
  const said: Array<[string, string[]]> = [];
  const emit = (event: ChatEvent) => {
    if (event.type === "text") said.push([event.text, (event.logprobs ?? []).map(({ token }) => token)]);
  };
  const events = new ChoiceEvents({ choice: 0, shape, stop, completionTokens: () => 0, emit });
  for (const token of tokens) {
    const logprob: TokenLogprob = { token, logprob: -1, bytes: [], top: [] };
    for (let entered = events.push(token, logprob); entered !== undefined && entered.rest !== ""; ) {
      entered = events.push(entered.rest);
    }
  }
  events.end();
  return said;
}

test("log probabilities come with the text of their tokens", () => {
  expect(read(plain, ["", "é", "!"])).toEqual([
    ["é", ["", "é"]],
    ["!", ["!"]],
  ]);
});

test("the mark that ends thoughts is no token of the answer", () => {
  expect(read(thinking, ["so", "</think>", "Hi"])).toEqual([["Hi", ["Hi"]]]);
  expect(read(thinking, ["so", "</think>Hi", "!"])).toEqual([
    ["Hi", ["</think>Hi"]],
    ["!", ["!"]],
  ]);
});

test("a token of a character that was cut off is told of too", () => {
  expect(read(plain, ["Hi", ""])).toEqual([
    ["Hi", ["Hi"]],
    ["", [""]],
  ]);
});

test("tokens of a stop text are not told of", () => {
  expect(read(plain, ["Hi", " ST", "OP"], [" STOP"])).toEqual([["Hi", ["Hi"]]]);
});
