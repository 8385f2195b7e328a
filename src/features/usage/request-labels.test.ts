import { expect, test } from "vitest";
import type { Caller } from "../../contracts/caller.ts";
import { LabelLimits, OTHER_LABELS } from "./label-limits.ts";
import { labelReader } from "./request-labels.ts";
import { usageSettings } from "./settings.ts";

const CALLER: Caller = {
  kind: "project",
  organizationId: "org",
  keyId: "key",
  projectId: "project",
  userId: undefined,
};

function read(labels: object, headers: Record<string, string>, body: unknown, budgeted: readonly string[] = []) {
  const isBudgeted = (caller: Caller, tag: string) => caller === CALLER && budgeted.includes(tag);
  return labelReader(usageSettings.parse({ labels }).labels, isBudgeted)?.(headers, body, CALLER);
}

test("reads nothing unless it is configured", () => {
  expect(labelReader(usageSettings.parse({}).labels, () => false)).toBeUndefined();
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

test("reads tags of the header and of configured metadata, each once", () => {
  const settings = { tag_header: "x-tags", tag_metadata: ["feature", "toString"] };
  const body = { metadata: { feature: "search", secret: "no" } };
  expect(read(settings, { "x-tags": "a, b,,a" }, body)?.tags).toEqual(["a", "b", "feature:search"]);
});

test("reads ten tags and those with a budget, wherever they stand, and sums the others together", () => {
  const many = Array.from({ length: 50 }, (_, index) => `t${index}`);
  const settings = { tag_header: "x-tags", tag_metadata: ["feature"] };
  const body = { metadata: { feature: "search" } };
  const tagsOf = (count: number, budgeted: string[] = []) =>
    read(settings, { "x-tags": many.slice(0, count).join() }, body, budgeted)?.tags;
  const first = many.slice(0, 10);
  expect(tagsOf(9)).toEqual([...many.slice(0, 9), "feature:search"]);
  expect(tagsOf(50)).toEqual([...first, OTHER_LABELS]);
  expect(tagsOf(50, ["feature:search", "t3"])).toEqual([...first, "feature:search", OTHER_LABELS]);
  expect(tagsOf(10, ["feature:search"])).toEqual([...first, "feature:search"]);
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
