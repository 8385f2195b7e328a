import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../deployments/routing-options.ts";
import { Catalog, type CatalogModel } from "./catalog.ts";
import { resolvePermissionEntry } from "./resolve-permission-entry.ts";

function model(id: string, ...accessGroups: string[]): CatalogModel {
  const names = { ownedBy: "us", license: undefined, aliases: [], isHidden: false };
  const places = { routing: DEFAULT_POLICY, fallbacks: [], deployments: [], pools: [] };
  const described = { ...names, ...places, isBuiltin: false, createdAt: 0, price: {} };
  return { ...described, id, task: "chat", accessGroups };
}

const catalog = new Catalog();
catalog.replace([
  { ...model("team-chat", "team-a"), aliases: ["chat"] },
  model("local/one"),
  model("openai/*", "everybody"),
  { ...model("secret"), isHidden: true },
]);

test("resolves an alias to the ID of its model", () => {
  expect(resolvePermissionEntry(catalog, "chat")).toBe("team-chat");
});

test("finds a hidden model by its ID", () => {
  expect(resolvePermissionEntry(catalog, "secret")).toBe("secret");
});

test.each([
  ["team-chat", true],
  ["local/one", true],
  ["openai/gpt-5", true],
  ["openai/*", true],
  ["openai/ft/*", true],
  ["local/*", true],
  ["group:team-a", true],
  ["group:everybody", true],
  ["group:team-b", false],
  ["group:", false],
  ["team-chats", false],
  ["nobody/*", false],
  ["local", false],
  ["*", false],
  ["", false],
])("finds %j in the catalog: %s", (entry, expected) => {
  expect(resolvePermissionEntry(catalog, entry)).toBe(expected ? entry : undefined);
});
