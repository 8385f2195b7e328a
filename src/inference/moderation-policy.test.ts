import { expect, test } from "vitest";
import { type AskedModeration, type DemandedModeration, moderationPolicy } from "./moderation-policy.ts";

const idOf = (model: string) => ({ strict: "strict", alias: "strict", lenient: "lenient" })[model];
const asked = (given: Partial<AskedModeration> = {}): AskedModeration => ({
  model: undefined,
  input: undefined,
  output: undefined,
  ...given,
});
const demanded = (given: Partial<DemandedModeration> = {}): DemandedModeration => ({
  model: "strict",
  input: "block",
  output: null,
  ...given,
});

test("applies the request's policy without a project policy, with score by default", () => {
  expect(moderationPolicy(undefined, undefined, idOf)).toBeUndefined();
  expect(moderationPolicy(asked({ model: "lenient", output: "block" }), undefined, idOf)).toEqual({
    model: "lenient",
    input: "score",
    output: "block",
    isDemanded: false,
    isShown: true,
  });
});

test("applies a project's policy to a request without one, and hides scores when it only blocks", () => {
  const policy = moderationPolicy(undefined, demanded(), idOf);
  expect(policy).toEqual({ model: "strict", input: "block", output: undefined, isDemanded: true, isShown: false });
  expect(moderationPolicy(undefined, demanded({ output: "score" }), idOf)?.isShown).toBe(true);
});

test("accepts a request that is as strict or stricter", () => {
  const least = demanded({ input: "score" });
  expect(moderationPolicy(asked({ input: "block", output: "block" }), least, idOf)).toMatchObject({
    input: "block",
    output: "block",
  });
  expect(moderationPolicy(asked({ input: "block" }), demanded(), idOf)).toMatchObject({ input: "block" });
  expect(moderationPolicy(asked(), demanded(), idOf)).toMatchObject({ input: "block", output: "score", isShown: true });
});

test.each(["input", "output"] as const)("rejects a request with a weaker %s", (direction) => {
  const least = demanded({ input: "block", output: "block" });
  expect(() => moderationPolicy(asked({ [direction]: "score" }), least, idOf)).toThrow(
    expect.objectContaining({ kind: "invalid-request", param: `moderation.policy.${direction}.mode` }),
  );
});

test("accepts only the project's moderation model in a request, by any of its names", () => {
  expect(moderationPolicy(asked({ model: "alias" }), demanded(), idOf)).toMatchObject({ model: "strict" });
  const refused = expect.objectContaining({ kind: "invalid-request", param: "moderation.model" });
  expect(() => moderationPolicy(asked({ model: "lenient" }), demanded(), idOf)).toThrow(refused);
  expect(() => moderationPolicy(asked({ model: "strict" }), demanded({ model: null }), idOf)).toThrow(refused);
  expect(() => moderationPolicy(asked({ model: "gone" }), demanded({ model: "gone" }), idOf)).toThrow(refused);
});
