import { expect, test } from "vitest";
import { expectTurnsBelow } from "../../../test/support/service/longest-turn.ts";
import type { DeferredTool } from "../tools/index.ts";
import { searchTools } from "./search-tools.ts";

function tools(count: number, description: string): DeferredTool[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `tool_${index}`;
    const definition = { name, description, parameters: {}, param: "tools[0]" };
    return { name, namespace: undefined, definition, sent: { type: "function", name } };
  });
}

/** One tool takes it 0.3 s. */
const SLOW_PATTERN = ".{1000}".repeat(28);

test("matches no pattern on the event loop, and ends with its call", async () => {
  const all = tools(1000, "a".repeat(2000));
  const search = { way: "pattern", text: SLOW_PATTERN, max: 5, project: "project" } as const;
  // The thread and its library are loaded.
  await searchTools(all, { ...search, text: "tool_7" }, new AbortController().signal);
  await expectTurnsBelow(100, async () => {
    const call = new AbortController();
    const running = searchTools(all, search, call.signal);
    const cause = new Error("The client left.");
    setTimeout(() => call.abort(cause), 500);
    await expect(running).rejects.toBe(cause);
  });
});

test("refuses texts that are too long, and patterns that cannot be matched", async () => {
  const search = (way: "query" | "pattern", text: string) =>
    searchTools(tools(1, ""), { way, text, max: 5, project: "project" }, new AbortController().signal);
  await expect(search("query", "a".repeat(1001))).rejects.toThrow("`query` may have 1,000 characters.");
  await expect(search("pattern", "a".repeat(201))).rejects.toThrow("`pattern` may have 200 characters.");
  for (const pattern of ["(", "(?=a)", "(a)\\1", "a{1001}"]) {
    await expect(search("pattern", pattern)).rejects.toThrow("`pattern` is not a regular expression");
  }
});
