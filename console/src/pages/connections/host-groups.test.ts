import { expect, test } from "vitest";
import type { Entry } from "./connections-api.ts";
import { groupByHost } from "./host-groups.ts";

const entry = (kind: Entry["kind"], name: string, value: object) => ({ kind, name, value }) as Entry;

test("groups models by connection, by the address of their deployments, and by this machine", () => {
  const groups = groupByHost([
    entry("connection", "gpu", { base_url: "http://10.0.0.5:8000/v1" }),
    entry("connection", "spare", { base_url: "http://10.0.0.6:8000/v1" }),
    entry("model", "both", { deployments: [{ connection: "gpu" }, { base_url: "https://api.example.com/v1" }] }),
    entry("model", "local", { deployments: [{ engine: "llama-cpp" }] }),
    entry("model", "built-in", {}),
    entry("setting", "webhooks", []),
    entry("mcp_server", "wiki", {}),
  ]);
  expect(groups.map(({ name, models }) => [name, models.map((model) => model.name)])).toEqual([
    ["gpu", ["both"]],
    ["spare", []],
    ["api.example.com", ["both"]],
    [undefined, ["local", "built-in"]],
  ]);
});
