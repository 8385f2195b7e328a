import { expect, test } from "vitest";
import { type ModelPermissions, modelAccess } from "./model-access.ts";

const model = (id: string, ...accessGroups: string[]) => ({ id, aliases: [] as string[], accessGroups });
const allow = (...modelIds: string[]): ModelPermissions => ({ mode: "allow_list", modelIds });
const deny = (...modelIds: string[]): ModelPermissions => ({ mode: "deny_list", modelIds });

test.each<[string, ModelPermissions[], [ReturnType<typeof model>, boolean][]]>([
  ["without permissions nothing is restricted", [], [[model("a"), true]]],
  [
    "an allow list permits only the listed models",
    [allow("a")],
    [
      [model("a"), true],
      [model("b"), false],
      [model("a/b"), false],
    ],
  ],
  [
    "an entry that names an alias applies to its model",
    [deny("nick")],
    [
      [{ ...model("a"), aliases: ["nick"] }, false],
      [model("b"), true],
    ],
  ],
  ["an empty allow list permits nothing", [allow()], [[model("a"), false]]],
  ["an empty deny list permits everything", [deny()], [[model("a"), true]]],
  [
    "a deny list permits all but the listed models",
    [deny("a", "x/*")],
    [
      [model("a"), false],
      [model("x/y"), false],
      [model("b"), true],
    ],
  ],
  [
    "a wildcard covers every id with its prefix",
    [allow("openai/*")],
    [
      [model("openai/gpt"), true],
      [model("openai/a/b"), true],
      [model("openai"), false],
      [model("openais/x"), false],
      [model("openai/*"), true],
    ],
  ],
  [
    "a group covers its models",
    [allow("group:team-a")],
    [
      [model("a", "team-b", "team-a"), true],
      [model("team-a"), false],
      [model("group:team-a"), false],
      [model("b", "team-b"), false],
    ],
  ],
  [
    "a denied group wins over nothing else",
    [deny("group:secret")],
    [
      [model("a", "secret", "open"), false],
      [model("b", "open"), true],
    ],
  ],
  [
    "the organization and the project must both permit it",
    [allow("a", "b"), deny("b")],
    [
      [model("a"), true],
      [model("b"), false],
      [model("c"), false],
    ],
  ],
])("%s", (_title, permissions, expected) => {
  const mayUse = modelAccess(permissions);
  expect(expected.map(([each]) => [each, mayUse(each)])).toEqual(expected);
});
