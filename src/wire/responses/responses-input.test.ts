import { expect, test } from "vitest";
import { parse } from "../openai/validate.ts";
import { compactedPrompt } from "./compaction.ts";
import { Item, toChatMessages } from "./responses-input.ts";
import { toStoredItems } from "./stored-items.ts";

test("tells the summary of a conversation from instructions, also as a stored item", () => {
  const input = [
    { role: "developer", content: "Be brief." },
    { role: "user", content: "I am Ada." },
    { role: "assistant", content: "Hello." },
    { role: "user", content: "Who am I?" },
  ];
  const prompt = compactedPrompt({ context: [], input }, "The user is called Ada.");
  const items = prompt?.input as typeof input;
  for (const context of [items, toStoredItems(items)]) {
    const messages = toChatMessages("Be kind.", { context, input: "And now?" });
    expect(messages.map(({ role, isSummary }) => [role, isSummary])).toEqual([
      ["system", undefined],
      ["developer", undefined],
      ["developer", true],
      ["user", undefined],
      ["user", undefined],
    ]);
  }
});

test("refuses a list of more tools than an MCP server may have", () => {
  const list = (count: number) => {
    const tools = Array.from({ length: count }, (_, index) => ({ name: `tool${index}` }));
    return { type: "mcp_list_tools", server_label: "wiki", tools };
  };
  expect(parse(Item, list(1000))).toEqual(list(1000));
  expect(() => parse(Item, list(1001))).toThrow("'tools' is too large: at most 1000 entries, not 1001.");
});
