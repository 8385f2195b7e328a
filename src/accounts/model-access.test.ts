import { expect, test } from "vitest";
import { type ModelPermissions, modelAccess } from "./model-access.ts";

const model = (id: string, ...accessGroups: string[]) => ({ id, aliases: [] as string[], accessGroups });
const allow = (...modelIds: string[]): ModelPermissions => ({ mode: "allow_list", modelIds });
const deny = (...modelIds: string[]): ModelPermissions => ({ mode: "deny_list", modelIds });

test.each<[string, ModelPermissions[], [ReturnType<typeof model>, boolean][]]>([
  ["nothing is restricted without permissions", [], [[model("a"), true]]],
  [
    "an allow list lets only what it names",
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
  ["an empty allow list lets nothing", [allow()], [[model("a"), false]]],
  ["an empty deny list lets everything", [deny()], [[model("a"), true]]],
  [
    "a deny list lets all but what it names",
    [deny("a", "x/*")],
    [
      [model("a"), false],
      [model("x/y"), false],
      [model("b"), true],
    ],
  ],
  [
    "a wildcard names what begins so",
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
    "a group names its models",
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
    "organization and project must both let it",
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
