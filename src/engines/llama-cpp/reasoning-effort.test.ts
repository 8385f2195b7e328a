import { expect, test } from "vitest";
import { ChatTemplate } from "./chat-template.ts";
import { effortVariables, thinksUnasked } from "./reasoning-effort.ts";

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
])("tells a template that looks at %s of %s", (variables, effort, said) => {
  const source = variables
    .split(", ")
    .map((name) => `{{ ${name} }}`)
    .join("");
  expect(effortVariables(new ChatTemplate(source, { bos_token: "", eos_token: "" }), effort)).toEqual(said);
});

test.each([
  ["other", "high"],
  ["other", "none"],
  ["reasoning_effort", "none"],
  ["reasoning_effort", "very high"],
  ["reasoning_effort", "constructor"],
  ["enable_thinking", "very high"],
])("refuses what a template that looks at %s cannot be told: %s", (variable, effort) => {
  expect(() => effortVariables(template(variable), effort)).toThrow(
    expect.objectContaining({ kind: "invalid-request", param: "reasoning_effort", code: "unsupported_value" }),
  );
});

test("takes a level that only the template knows", () => {
  expect(effortVariables(template("'deep' if reasoning_effort == 'max'"), "max")).toEqual({ reasoning_effort: "max" });
});

test("knows which templates have to be asked for thoughts", () => {
  expect(thinksUnasked(template("thinking"))).toBe(false);
  expect(thinksUnasked(template("enable_thinking"))).toBe(true);
  expect(thinksUnasked(template("other"))).toBe(true);
});
