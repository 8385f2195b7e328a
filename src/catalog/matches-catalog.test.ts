import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../inference/routing-options.ts";
import { Catalog, type CatalogModel } from "./catalog.ts";
import { matchesCatalog } from "./matches-catalog.ts";

function model(id: string, ...accessGroups: string[]): CatalogModel {
  const names = { ownedBy: "us", licence: undefined, aliases: [], isHidden: false };
  const places = { routing: DEFAULT_POLICY, fallbacks: [], deployments: [] };
  const described = { ...names, ...places, isBuiltin: false, createdAt: 0, price: {} };
  return { ...described, id, task: "chat", accessGroups };
}

const catalog = new Catalog();
catalog.replace([model("team-chat", "team-a"), model("local/one"), model("openai/*", "everybody")]);

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
])("%j names something: %s", (entry, expected) => {
  expect(matchesCatalog(catalog, entry)).toBe(expected);
});
