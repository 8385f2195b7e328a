import { describe, expect, test } from "vitest";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import { toGenerateBody } from "./generate-request.ts";

const bodyOf = (asked: Parameters<typeof makeChatRequest>[0], model = "gemini-3-pro-preview", fields = {}) =>
  toGenerateBody(makeChatRequest(asked), model, { isVertex: false, thinking: undefined, safety: {}, ...fields });

describe("signatures of earlier turns", () => {
  const turn = (fields: Partial<ChatMessage>): ChatMessage[] => [
    { role: "user", content: "Weather?" },
    {
      role: "assistant",
      content: "",
      toolCalls: [
        { id: "call_1", name: "f", arguments: "{}" },
        { id: "call_2", name: "g", arguments: "{}" },
      ],
      ...fields,
    },
    { role: "tool", content: '{"degrees":18}', toolCallId: "call_1" },
    { role: "tool", content: "cold", toolCallId: "call_2" },
  ];
  const partsOf = (messages: ChatMessage[], model?: string) =>
    (bodyOf({ messages }, model).contents as { parts: Record<string, unknown>[] }[])[1]?.parts.map(
      ({ thoughtSignature }) => thoughtSignature,
    );

  test("are on the first call, from the reasoning of the message", () => {
    expect(partsOf(turn({ reasoning: [{ text: "", signature: "gemini#AAAA" }] }))).toEqual(["AAAA", undefined]);
  });

  test("are on the calls that they came with", () => {
    const toolCalls = [{ id: "call_1", name: "f", arguments: "{}", signature: "gemini#BBBB" }];
    expect(partsOf(turn({ toolCalls }))).toEqual(["BBBB"]);
  });

  test("of another provider are replaced by the value that the API accepts, for models that want one", () => {
    const messages = turn({ reasoning: [{ text: "Hm", signature: "EqQBCgIYAhIM" }] });
    expect(partsOf(messages)).toEqual(["skip_thought_signature_validator", undefined]);
    expect(partsOf(messages, "gemini-2.5-flash")).toEqual([undefined, undefined]);
  });

  test("go with results that have the names of their calls", () => {
    expect(bodyOf({ messages: turn({}) }).contents).toMatchObject([
      {},
      {},
      {
        role: "user",
        parts: [
          { functionResponse: { name: "f", response: { degrees: 18 } } },
          { functionResponse: { name: "g", response: { result: "cold" } } },
        ],
      },
    ]);
  });
});

describe("reasoning", () => {
  const thinkingOf = (asked: Parameters<typeof makeChatRequest>[0], model?: string) =>
    (bodyOf(asked, model).generationConfig as { thinkingConfig?: object }).thinkingConfig;

  test.each([
    ["gemini-2.5-pro", "low", { includeThoughts: true, thinkingBudget: 1024 }],
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
    ["gemini-3-pro-preview", "high", { includeThoughts: true, thinkingLevel: "high" }],
  ])("of %s with the effort %s", (model, reasoningEffort, expected) => {
    expect(thinkingOf({ reasoningEffort }, model)).toEqual(expected);
  });

  test("takes the budget of a Messages request", () => {
    const thinking = { isEnabled: true, budgetTokens: 3000 };
    expect(thinkingOf({ thinking }, "gemini-2.5-pro")).toEqual({ includeThoughts: true, thinkingBudget: 3000 });
    expect(thinkingOf({ thinking })).toEqual({ includeThoughts: true });
  });

  test("cannot be off, or higher than high, for models with levels", () => {
    expect(() => thinkingOf({ reasoningEffort: "none" })).toThrow("Gemini's API has no effort 'none'");
    expect(() => thinkingOf({ reasoningEffort: "xhigh" })).toThrow("low, medium, high");
  });
});

test("fetches addresses whose type their end shows, and refuses others by name", () => {
  const image = (url: string): ChatMessage[] => [
    {
      role: "user",
      content: [{ type: "image", url, param: { type: "at", url: "messages[0].content[0].image_url.url" } }],
    },
  ];
  expect(bodyOf({ messages: image("https://example.org/a.PNG?x=1") }).contents).toMatchObject([
    { parts: [{ fileData: { mimeType: "image/png", fileUri: "https://example.org/a.PNG?x=1" } }] },
  ]);
  expect(() => bodyOf({ messages: image("https://example.org/image") })).toThrow("data: URL");
});

test("sends the thresholds of the configuration", () => {
  const safety = { HARM_CATEGORY_HARASSMENT: "BLOCK_NONE" };
  expect(bodyOf({}, undefined, { safety }).safetySettings).toEqual([
    { category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" },
  ]);
});
