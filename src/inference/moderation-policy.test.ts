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

test("without a project's policy the request's holds, scoring where it says nothing", () => {
  expect(moderationPolicy(undefined, undefined, idOf)).toBeUndefined();
  expect(moderationPolicy(asked({ model: "lenient", output: "block" }), undefined, idOf)).toEqual({
    model: "lenient",
    input: "score",
    output: "block",
    isDemanded: false,
    isShown: true,
  });
});

test("a project's policy holds for a request that asks for nothing, and shows nothing where it only blocks", () => {
  const policy = moderationPolicy(undefined, demanded(), idOf);
  expect(policy).toEqual({ model: "strict", input: "block", output: undefined, isDemanded: true, isShown: false });
  expect(moderationPolicy(undefined, demanded({ output: "score" }), idOf)?.isShown).toBe(true);
});

test("a request may be as strict or stricter", () => {
  const least = demanded({ input: "score" });
  expect(moderationPolicy(asked({ input: "block", output: "block" }), least, idOf)).toMatchObject({
    input: "block",
    output: "block",
  });
  expect(moderationPolicy(asked({ input: "block" }), demanded(), idOf)).toMatchObject({ input: "block" });
  expect(moderationPolicy(asked(), demanded(), idOf)).toMatchObject({ input: "block", output: "score", isShown: true });
});

test.each(["input", "output"] as const)("a request that asks for less in its %s is refused", (direction) => {
  const least = demanded({ input: "block", output: "block" });
  expect(() => moderationPolicy(asked({ [direction]: "score" }), least, idOf)).toThrow(
    expect.objectContaining({ kind: "invalid-request", param: `moderation.policy.${direction}.mode` }),
  );
});

test("a request may name the project's moderate, by any of its names, and no other", () => {
  expect(moderationPolicy(asked({ model: "alias" }), demanded(), idOf)).toMatchObject({ model: "strict" });
  const refused = expect.objectContaining({ kind: "invalid-request", param: "moderation.model" });
  expect(() => moderationPolicy(asked({ model: "lenient" }), demanded(), idOf)).toThrow(refused);
  expect(() => moderationPolicy(asked({ model: "strict" }), demanded({ model: null }), idOf)).toThrow(refused);
  expect(() => moderationPolicy(asked({ model: "gone" }), demanded({ model: "gone" }), idOf)).toThrow(refused);
});
