import { expect, test } from "vitest";
import { ChatTemplate } from "./chat-template.ts";
import { reasoningEffortVariables, reasonsByDefault } from "./reasoning-effort.ts";

const template = (variable: string) =>
  new ChatTemplate(`{{ messages }}{{ ${variable} }}`, { bos_token: "", eos_token: "" });

test.each([
  ["enable_thinking", "high", { enable_thinking: true }],
  ["enable_thinking", "none", { enable_thinking: false }],
  ["thinking", "low", { thinking: true }],
  ["reasoning_effort", "low", { reasoning_effort: "low" }],
  ["reasoning_effort", "minimal", { reasoning_effort: "low" }],
  ["reasoning_effort, enable_thinking", "xhigh", { reasoning_effort: "high", enable_thinking: true }],
  ["reasoning_effort, enable_thinking", "none", { enable_thinking: false }],
  ["other", undefined, {}],
])("sets the variables of a template that reads %s for effort %s", (variables, effort, expected) => {
  const source = variables
    .split(", ")
    .map((name) => `{{ ${name} }}`)
    .join("");
  expect(reasoningEffortVariables(new ChatTemplate(source, { bos_token: "", eos_token: "" }), effort)).toEqual(
    expected,
  );
});

test.each([
  ["other", "high"],
  ["other", "none"],
  ["reasoning_effort", "none"],
  ["reasoning_effort", "very high"],
  ["reasoning_effort", "constructor"],
  ["enable_thinking", "very high"],
])("rejects for a template that reads %s the effort %s", (variable, effort) => {
  expect(() => reasoningEffortVariables(template(variable), effort)).toThrow(
    expect.objectContaining({ name: "RequestError", param: "reasoning_effort", code: "unsupported_value" }),
  );
});

test("accepts a level that only the template defines", () => {
  expect(reasoningEffortVariables(template("'deep' if reasoning_effort == 'max'"), "max")).toEqual({
    reasoning_effort: "max",
  });
});

test("knows which templates reason by default", () => {
  expect(reasonsByDefault(template("thinking"))).toBe(false);
  expect(reasonsByDefault(template("enable_thinking"))).toBe(true);
  expect(reasonsByDefault(template("other"))).toBe(true);
});
