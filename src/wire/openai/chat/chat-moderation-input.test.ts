import { expect, test } from "vitest";
import { readChatBody } from "./chat-body.ts";
import { toModerationInput } from "./chat-moderation-input.ts";

const textsOf = (messages: readonly object[], fields: object = {}) =>
  toModerationInput(readChatBody({ model: "m", messages, ...fields })).texts;
const user = (content: string) => ({ role: "user", content });
const assistant = (content: string, fields: object = {}) => ({ role: "assistant", content, ...fields });

test("moderates one message once", () => {
  expect(textsOf([user("Hello.")])).toEqual(["Hello."]);
});

test("moderates eight messages of fragments as one text", () => {
  const fragments = ["I will ", "find ", "you ", "and ki", "ll you", ", then ", "your ", "family."];
  const texts = textsOf(fragments.map(user));
  expect(texts).toContain("I will find you and kill you, then your family.");
  expect(texts).toContain(fragments.join("\n"));
});

test("moderates fragments as one text when other roles' messages are in between", () => {
  const texts = textsOf([user("I will ki"), assistant("Go on."), user("ll you.")]);
  expect(texts).toContain("I will kill you.");
  expect(texts).toContain("I will ki\nGo on.\nll you.");
});

test("moderates the boundary of two long messages without repeating their middles", () => {
  const texts = textsOf([user(`${"a ".repeat(5000)}I will ki`), user(`ll you.${" b".repeat(5000)}`)]);
  const joined = texts.find((text) => text.includes("I will kill you."));
  expect(joined?.length).toBeLessThan(1000);
});

test.each([
  ["reasoning_content", "kill", "kill"],
  ["reasoning", "a plan", "a plan"],
  ["reasoning_details", [{ type: "reasoning.text", text: "a plan" }], "a plan"],
  ["refusal", "never", "never"],
  ["audio", { transcript: "a plan" }, "a plan"],
  ["tool_calls", [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":"plan"}' } }], "plan"],
])("moderates a message's field %s", (field, value, text) => {
  expect(textsOf([assistant("Yes.", { [field]: value })]).join(" ")).toContain(text);
});

test.each([
  ["prediction", { type: "content", content: "a plan" }],
  ["documents", [{ title: "x", text: "a plan" }]],
  ["chat_template_kwargs", { system: "a plan" }],
  ["guided_regex", "a plan"],
  ["tools", [{ type: "function", function: { name: "f", description: "a plan" } }]],
])("moderates the body's field %s", (field, value) => {
  expect(textsOf([user("Hello.")], { [field]: value }).join(" ")).toContain("a plan");
});
