import { expect, test } from "vitest";
import { LabelLimits, OTHER_LABELS } from "./label-limits.ts";
import { labelReader } from "./request-labels.ts";
import { usageSettings } from "./settings.ts";

function read(labels: object, headers: Record<string, string>, body: unknown) {
  return labelReader(usageSettings.parse({ labels }).labels)?.(headers, body);
}

test("reads nothing unless it is configured", () => {
  expect(labelReader(usageSettings.parse({}).labels)).toBeUndefined();
  expect(read({ tag_metadata: ["team"] }, {}, { user: "ada", metadata: { other: "x" } })).toBeUndefined();
});

test.each([
  ["safety_identifier before user", {}, { safety_identifier: "hash", user: "ada" }, "hash"],
  ["user", {}, { user: " ada " }, "ada"],
  ["metadata.user_id of Anthropic's API", {}, { metadata: { user_id: "u1" } }, "u1"],
  ["the configured header first", { "x-user": "header" }, { user: "ada" }, "header"],
  ["none from a user that is no text", {}, { user: { name: "ada" } }, undefined],
  ["none without a body", {}, undefined, undefined],
  ["no NUL, which PostgreSQL refuses", {}, { user: "a\0b" }, "ab"],
  ["at most 128 characters", {}, { user: "a".repeat(500) }, "a".repeat(128)],
])("reads the end user: %s", (_case, headers, body, endUser) => {
  expect(read({ end_users: true, end_user_header: "X-User" }, headers, body)?.endUser).toBe(endUser);
});

test("reads tags of the header and of configured metadata, each once, at most ten", () => {
  const settings = { tag_header: "x-tags", tag_metadata: ["feature", "toString"] };
  const body = { metadata: { feature: "search", secret: "no" } };
  expect(read(settings, { "x-tags": "a, b,,a" }, body)?.tags).toEqual(["a", "b", "feature:search"]);
  const many = Array.from({ length: 30 }, (_, index) => `t${index}`).join();
  expect(read(settings, { "x-tags": many }, body)?.tags).toHaveLength(10);
});

test("bounds the labels of each project, kind and day, and sums the others together", () => {
  const limits = new LabelLimits(2);
  const bound = (value: string, project = "a", kind: "tag" | "tool" = "tag", day = 0) =>
    limits.bound(project, { kind, value }, day * 86_400_000).value;
  expect(["x", "y", "z", "x"].map((value) => bound(value))).toEqual(["x", "y", OTHER_LABELS, "x"]);
  expect(bound("z", "b")).toBe("z");
  expect(bound("z", "a", "tool")).toBe("z");
  expect(bound("z", "a", "tag", 1)).toBe("z");
});
