/** Bodies within the limit of values, whose names are read or compared with each other. */

import { expect, test } from "vitest";
import { McpServers } from "../anthropic/messages-mcp.ts";
import { toMessages } from "./gemini-messages.ts";
import { readGenerateBody } from "./generate-body.ts";
import { toChatBody, toPromptParts } from "./generate-call.ts";

/** What one request may take from others. */
const MAX_CPU_MS = 250;

const listOf = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, at) => item(at));
const name = (index: number) => `f${index}`;
const context = { requestId: "r", callerHeaders: {}, unknownFields: "ignore" } as never;
const ask = { contents: [{ parts: [{ text: "Hello" }] }] };

const declare = () => {
  const functions = listOf(25_000, (index) => ({ name: name(index) }));
  const config = { mode: "ANY" as const, allowedFunctionNames: listOf(40_000, (index) => name(index % 25_000)) };
  const body = { ...ask, tools: [{ functionDeclarations: functions }], toolConfig: { functionCallingConfig: config } };
  return toPromptParts(body as never, toChatBody("m", body as never), context).tools.length;
};
const answerCalls = () => {
  const calls = listOf(15_000, (index) => ({ functionCall: { name: name(index) } }));
  const results = calls.map(({ functionCall }) => ({ functionResponse: functionCall })).reverse();
  return toMessages({ contents: [{ role: "model", parts: calls }, { parts: results }] } as never).length;
};
const nameServers = () => McpServers.parse(listOf(30_000, (index) => ({ type: "url", name: name(index) }))).length;

const readName = () => Object.keys(readGenerateBody({ contents: [{}], ["a_b".repeat(5_000_000)]: 1 })).length;

test.each([
  ["bytes in a name", readName, 2],
  ["functions", declare, 25_000],
  ["calls", answerCalls, 15_001],
  ["MCP servers", nameServers, 30_000],
])("many %s cost what they count", (_name, read, count) => {
  // A busy machine makes one run longer, what is computed all of them.
  const runs = Array.from({ length: 4 }, () => {
    const before = process.threadCpuUsage();
    expect(read()).toBe(count);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  expect(Math.min(...runs)).toBeLessThan(MAX_CPU_MS);
});

test("a result without an ID answers the earliest open call of its name, and one with an ID its own", () => {
  const call = (id?: string) => ({ functionCall: { name: "f", id } });
  const result = (id?: string) => ({ functionResponse: { name: "f", id } });
  const contents = [
    { role: "model", parts: [call("a"), call("b"), call()] },
    { parts: [result("b"), result(), result()] },
  ];
  const answers = toMessages({ contents } as never).flatMap(({ tool_call_id: id }) => id ?? []);
  expect(answers).toEqual(["b", "a", "call00000"]);
});
