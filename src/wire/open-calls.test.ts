import { expect, test } from "vitest";
import { toChatMessages } from "./ollama/messages.ts";
import { OpenCalls } from "./open-calls.ts";

/** What one request may take from others. */
const MAX_CPU_MS = 150;
const CALLS = 12_000;

test("takes the first open call of an ID, a name, both or neither", () => {
  const calls = new OpenCalls();
  for (const id of ["a", "b", "c", "d"]) calls.add({ id, name: id === "d" ? "g" : "f" });
  expect(calls.take({ id: "b" })?.id).toBe("b");
  expect(calls.take({ name: "f" })?.id).toBe("a");
  expect(calls.take({ id: "c", name: "g" })).toBeUndefined();
  expect(calls.take({ name: "f" })?.id).toBe("c");
  expect(calls.take({ name: "f" })).toBeUndefined();
  expect(calls.take({})?.id).toBe("d");
  expect(calls.take({})).toBeUndefined();
});

test("reads thousands of Ollama's results in time that grows with their number", () => {
  const name = (index: number) => `f${index}`;
  const tool_calls = Array.from({ length: CALLS }, (_, index) => ({ function: { name: name(index), arguments: {} } }));
  const results = tool_calls.map((_, index) => ({ role: "tool" as const, tool_name: name(CALLS - 1 - index) }));
  const read = () => toChatMessages([{ role: "assistant", tool_calls }, ...results]);
  // A busy machine makes one run longer, what is computed all of them.
  const runs = Array.from({ length: 4 }, () => {
    const before = process.threadCpuUsage();
    expect(read().at(-1)).toMatchObject({ role: "tool", toolCallId: "call00000" });
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  expect(Math.min(...runs)).toBeLessThan(MAX_CPU_MS);
});
