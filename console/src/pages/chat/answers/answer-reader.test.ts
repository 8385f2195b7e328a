import { expect, test } from "vitest";
import type { Answer } from "../conversation.ts";
import { withAnswer } from "./answer-reader.ts";

const ANSWER: Answer = {
  model: "a",
  text: "One, two",
  alternatives: [],
  reasoning: "",
  toolCalls: [],
  state: "stopped",
};

test("puts an answer into its column", () => {
  const other = { ...ANSWER, model: "b" };
  expect(withAnswer([ANSWER], { model: "b", column: 1, turns: [] }, other)).toEqual([ANSWER, other]);
});

test("appends what continues an answer, whose state and measures it takes over", () => {
  const request = {
    model: "a",
    column: 0,
    turns: [],
    before: { ...ANSWER, finishReason: "length", reasoning: "Count." },
  };
  const rest: Answer = { ...ANSWER, text: ", three", state: "done", finishReason: "stop", requestId: "req_2" };
  expect(withAnswer([request.before], request, rest)).toEqual([
    { ...rest, text: "One, two, three", reasoning: "Count." },
  ]);
});
