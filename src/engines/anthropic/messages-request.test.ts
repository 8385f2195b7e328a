import { describe, expect, test } from "vitest";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatRequest } from "../../contracts/chat-model.ts";
import { toMessagesBody, withCacheMarks } from "./messages-request.ts";

const bodyOf = (asked: Parameters<typeof makeChatRequest>[0], model = "claude-opus-5", cache = {}) =>
  toMessagesBody(makeChatRequest(asked), model, { maxOutputTokens: 32_000, thinking: undefined, cache });
const effortOf = (reasoningEffort: string, model: string, fields: Partial<ChatRequest> = {}) =>
  bodyOf({ ...fields, reasoningEffort }, model);

describe("turns", () => {
  test("join results of calls and the user's text, and put instructions in `system`", () => {
    const messages: ChatMessage[] = [
      { role: "system", content: "Be short." },
      { role: "user", content: "Hi" },
      { role: "developer", content: "Be kind." },
      { role: "assistant", content: "", toolCalls: [{ id: "call:1", name: "f", arguments: '{"a":1}' }] },
      { role: "tool", content: "one", toolCallId: "call:1" },
      { role: "user", content: "And now?" },
    ];
    expect(bodyOf({ messages })).toMatchObject({
      system: [{ text: "Be short." }, { text: "Be kind." }],
      messages: [
        { role: "user", content: [{ text: "Hi" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "call_1", input: { a: 1 } }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: [{ text: "one" }] },
            { type: "text", text: "And now?" },
          ],
        },
      ],
    });
  });

  test("leave out empty texts and reasoning of other providers", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "" },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Yes", reasoning: [{ text: "Hm", signature: "gemini#abc=" }] },
    ];
    expect(bodyOf({ messages }).messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      { role: "assistant", content: [{ type: "text", text: "Yes" }] },
    ]);
  });
});

describe("reasoning", () => {
  test.each([
    ["claude-sonnet-4-5", { thinking: { type: "enabled", budget_tokens: 2048 } }],
    ["claude-3-7-sonnet-20250219", { thinking: { type: "enabled", budget_tokens: 2048 } }],
    ["claude-sonnet-4-20250514", { thinking: { type: "enabled", budget_tokens: 2048 } }],
    ["claude-opus-4-6", { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } }],
    ["claude-sonnet-5", { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } }],
  ])("is a budget or an effort: %s", (model, expected) => {
    expect(effortOf("low", model)).toMatchObject(expected);
  });

  test("stays within the limit of tokens, or names it", () => {
    expect(effortOf("high", "claude-sonnet-4-5", { maxTokens: 3000 })).toMatchObject({
      thinking: { budget_tokens: 2999 },
    });
    expect(() => effortOf("high", "claude-sonnet-4-5", { maxTokens: 1024 })).toThrow("more than 1024");
  });

  test("refuses an effort that the API does not have", () => {
    expect(() => effortOf("extreme", "claude-opus-5")).toThrow("no effort 'extreme'");
  });

  test("is off with the effort none", () => {
    expect(effortOf("none", "claude-opus-5")).toMatchObject({ thinking: { type: "disabled" } });
    expect(effortOf("none", "claude-sonnet-4-5")).not.toHaveProperty("thinking");
  });
});

describe("cache marks", () => {
  const cache = { instructions: "1h", conversation: "5m" } as const;
  const MARK = { type: "ephemeral", ttl: "1h" };

  test("of the configuration are at the end of the system prompt and of the conversation", () => {
    const messages: ChatMessage[] = [
      { role: "system", content: "Be short." },
      { role: "user", content: "Hi" },
    ];
    expect(bodyOf({ messages }, undefined, cache)).toMatchObject({
      system: [{ text: "Be short.", cache_control: MARK }],
      cache_control: { type: "ephemeral", ttl: "5m" },
    });
  });

  test("of the configuration are on the last tool where there is no system prompt", () => {
    const tool = { name: "f", description: undefined, parameters: undefined, param: "tools[0]" };
    const { tools } = bodyOf({ tools: [tool, { ...tool, name: "g" }] }, undefined, cache);
    expect(tools).toMatchObject([{ name: "f" }, { name: "g", cache_control: MARK }]);
    expect((tools as object[])[0]).not.toHaveProperty("cache_control");
  });

  test("of the request stay as they are", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "A book. A question.", cacheMarks: [{ end: 7, ttl: undefined }] },
    ];
    const body = bodyOf({ messages }, undefined, cache);
    expect(body.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "A book.", cache_control: { type: "ephemeral" } },
          { type: "text", text: " A question." },
        ],
      },
    ]);
    expect(body).not.toHaveProperty("cache_control");
  });

  test("are set in the body of a caller, whose text becomes a block", () => {
    const sent = { model: "x", system: "Be short.", messages: [{ role: "user", content: "Hi" }] };
    expect(withCacheMarks(sent, cache)).toMatchObject({
      system: [{ type: "text", text: "Be short.", cache_control: MARK }],
    });
    expect(withCacheMarks(sent, {})).toBe(sent);
  });
});

test("refuses JSON without a schema, and files other than PDF, by name", () => {
  expect(() => bodyOf({ format: { type: "json" } })).toThrow("Anthropic's API has no JSON mode");
  const file = { type: "file", url: "data:application/zip;base64,AAAA", param: "messages[0].content[0].type" } as const;
  expect(() => bodyOf({ messages: [{ role: "user", content: [file] }] })).toThrow("application/zip");
});
