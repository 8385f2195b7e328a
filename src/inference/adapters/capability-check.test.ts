import { expect, test } from "vitest";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import { checkCapabilities } from "./capability-check.ts";

const ABILITIES = { tools: true, jsonSchema: true, logprobs: true, vision: true, reasoning: true, choices: 1 };

function refusalOf(messageCount: number, facts: Partial<ChatModel>) {
  const messages = Array.from({ length: messageCount }, () => ({ role: "user" as const, content: "a" }));
  const call = {
    request: makeChatRequest({ messages }),
    moderationInput: () => ({ texts: [], unmoderatable: undefined }),
  };
  return checkCapabilities(call, { abilities: ABILITIES, ...facts } as ChatModel);
}

test("rejects more messages than fit the context window, with the window's size", () => {
  const facts = { contextWindow: 4096, maxMessages: 800 };
  expect(refusalOf(800, facts)).toBeUndefined();
  const refusal = refusalOf(801, facts);
  expect(refusal).toMatchObject({ code: "context_length_exceeded", param: "messages" });
  expect(refusal?.message).toContain("4096");
});

test("does not limit messages for models without a reported maximum", () => {
  expect(refusalOf(5000, { contextWindow: undefined, maxMessages: undefined })).toBeUndefined();
});
