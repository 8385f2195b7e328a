import { expect, test } from "vitest";
import { moderationPolicy, type RequestedModeration, type RequiredModeration } from "./moderation-policy.ts";

const idOf = (model: string) => ({ strict: "strict", alias: "strict", lenient: "lenient" })[model];
const requested = (given: Partial<RequestedModeration> = {}): RequestedModeration => ({
  model: undefined,
  input: undefined,
  output: undefined,
  ...given,
});
const required = (given: Partial<RequiredModeration> = {}): RequiredModeration => ({
  model: "strict",
  input: "block",
  output: null,
  unsupportedLanguage: null,
  ...given,
});

test("applies the request's policy without a project policy, with score by default", () => {
  expect(moderationPolicy(undefined, undefined, idOf)).toBeUndefined();
  expect(moderationPolicy(requested({ model: "lenient", output: "block" }), undefined, idOf)).toEqual({
    model: "lenient",
    input: "score",
    output: "block",
    isRequired: false,
    isShown: true,
  });
});

test("applies a project's policy to a request without one, and hides scores when it only blocks", () => {
  const policy = moderationPolicy(undefined, required(), idOf);
  expect(policy).toEqual({ model: "strict", input: "block", output: undefined, isRequired: true, isShown: false });
  expect(moderationPolicy(undefined, required({ output: "score" }), idOf)?.isShown).toBe(true);
});

test("moderates no chat for a policy that only concerns languages", () => {
  const languages = required({ input: null, unsupportedLanguage: { action: "refuse", model: null } });
  expect(moderationPolicy(undefined, languages, idOf)).toBeUndefined();
  expect(moderationPolicy(requested({ model: "lenient" }), languages, idOf)).toMatchObject({
    model: "lenient",
    isRequired: false,
  });
});

test("accepts a request that is as strict or stricter", () => {
  const least = required({ input: "score" });
  expect(moderationPolicy(requested({ input: "block", output: "block" }), least, idOf)).toMatchObject({
    input: "block",
    output: "block",
  });
  expect(moderationPolicy(requested({ input: "block" }), required(), idOf)).toMatchObject({ input: "block" });
  expect(moderationPolicy(requested(), required(), idOf)).toMatchObject({
    input: "block",
    output: "score",
    isShown: true,
  });
});

test.each(["input", "output"] as const)("rejects a request with a weaker %s", (direction) => {
  const least = required({ input: "block", output: "block" });
  expect(() => moderationPolicy(requested({ [direction]: "score" }), least, idOf)).toThrow(
    expect.objectContaining({ kind: "invalid-request", param: `moderation.policy.${direction}.mode` }),
  );
});

test("accepts only the project's moderation model in a request, by any of its names", () => {
  expect(moderationPolicy(requested({ model: "alias" }), required(), idOf)).toMatchObject({ model: "strict" });
  const refused = expect.objectContaining({ kind: "invalid-request", param: "moderation.model" });
  expect(() => moderationPolicy(requested({ model: "lenient" }), required(), idOf)).toThrow(refused);
  expect(() => moderationPolicy(requested({ model: "strict" }), required({ model: null }), idOf)).toThrow(refused);
  expect(() => moderationPolicy(requested({ model: "gone" }), required({ model: "gone" }), idOf)).toThrow(refused);
});
