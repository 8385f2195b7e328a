/** Requests within the limit of values, whose names of tools are compared with each other. */

import { expect, test } from "vitest";
import type { Caller } from "../../contracts/caller.ts";
import type { InputItem } from "../../wire/responses/responses-input.ts";
import type { SentTool } from "../../wire/responses/responses-tools.ts";
import { GuardedLists } from "./guarded-lists.ts";
import { McpServers } from "./mcp-servers.ts";
import { McpToolType } from "./mcp-tool.ts";
import { mcpServerSettings, mcpSettings } from "./settings.ts";

/** What one request may take from others. */
const MAX_CPU_MS = 250;

const servers = new McpServers({
  servers: mcpServerSettings.parse([{ name: "wiki", url: "http://127.0.0.1:1/" }]),
  settings: mcpSettings.parse({}),
  grants: () => {
    throw new Error("no server has accounts");
  },
  logger: {} as never,
});
// Nothing calls a tool.
const type = new McpToolType(servers, {} as never, new GuardedLists());

/** Opens the tool in a request that has listed its tools before. */
const open = (names: readonly string[], fields: object = {}, items: readonly object[] = []) => {
  const list = { type: "mcp_list_tools", server_label: "wiki", tools: names.map((name) => ({ name })) };
  const tool = { type: "mcp", server_label: "wiki", ...fields } as unknown as SentTool;
  return type.open(tool, {
    ...{ caller: { projectId: "proj" } as Caller, path: "tools[0]", signal: new AbortController().signal },
    ...{ items: [list, ...items] as InputItem[], include: [], hold: () => {}, functionName: (name: string) => name },
    ...{ guardsOf: () => undefined, runTool: () => Promise.reject(new Error("no tool runs")), deferred: {} as never },
  });
};

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `tool${index}`);

/** Names of the same length, which differ at their ends only, and are not beyond what V8 reads for a hash. */
const longNames = (last: string) =>
  Array.from({ length: 1000 }, (_, index) => Buffer.from(`${"x".repeat(16_000)}${1000 + index}${last}`).toString());
const LISTED = longNames("a");
const OTHERS = longNames("b");

const allow = async () => (await open(LISTED, { allowed_tools: OTHERS })).functions.length;
const needApproval = async () => {
  const { functions } = await open(LISTED, { require_approval: { never: { tool_names: OTHERS } } });
  return functions.filter(({ needsApproval }) => needsApproval).length;
};
const APPROVED = namesOf(60_000).flatMap((id) => [
  { type: "mcp_approval_request", id, server_label: "wiki", name: "tool999", arguments: "{}" },
  { type: "mcp_approval_response", approval_request_id: id, approve: true },
]);
const approve = async () => (await open(namesOf(1000), {}, APPROVED)).calls?.length;

test.each([
  ["allowed tools", allow, 0],
  ["tools without approval", needApproval, 1000],
  ["approved calls", approve, 60_000],
])("many %s cost what they count", async (_name, read, count) => {
  // A busy machine makes one run longer, what is computed all of them.
  const runs: number[] = [];
  for (let run = 0; run < 4; run += 1) {
    const before = process.threadCpuUsage();
    expect(await read()).toBe(count);
    const { user, system } = process.threadCpuUsage(before);
    runs.push((user + system) / 1000);
  }
  expect(Math.min(...runs)).toBeLessThan(MAX_CPU_MS);
});

test("an approved call runs the first tool of its name, and only one that the request may use", async () => {
  const ask = (name: string) => [
    { type: "mcp_approval_request", id: "mcpr_1", server_label: "wiki", name, arguments: "{}" },
    { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
  ];
  const { calls } = await open(["add", "drop"], { allowed_tools: ["add"] }, ask("add"));
  expect(calls).toMatchObject([{ name: "add", arguments: "{}" }]);
  await expect(open(["add", "drop"], { allowed_tools: ["add"] }, ask("drop"))).rejects.toThrow("has no tool 'drop'");
});
