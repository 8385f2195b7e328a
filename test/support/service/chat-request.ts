import type { ChatRequest } from "../../../src/contracts/chat-model.ts";
import type { ChatProxy } from "../../../src/contracts/chat-proxy.ts";
import { DEFAULT_CHAT_REQUEST } from "../../../src/contracts/default-chat-request.ts";
import { readChatBody } from "../../../src/wire/openai/chat/chat-body.ts";
import { toChatCall } from "../../../src/wire/openai/chat/chat-call.ts";

type Asked = Partial<Omit<ChatRequest, "messages">> & {
  /** Shorthand for one user message. */
  say?: string;
  messages?: ChatRequest["messages"];
};

export function makeChatRequest(asked: Asked = {}): ChatRequest {
  const { say, messages = [{ role: "user", content: say ?? "Say hello." }], ...fields } = asked;
  return { ...DEFAULT_CHAT_REQUEST, model: "test-model", messages, ...fields };
}

/** Parses a body of POST /v1/chat/completions into a chat request. */
export function makeChatCall(fields: Record<string, unknown> & { say?: string } = {}) {
  const { say, ...body } = fields;
  const messages = [{ role: "user", content: say ?? "Say hello." }];
  return toChatCall(
    readChatBody({ model: "test-model", messages, temperature: 1, stream: true, ...body }),
    {},
    "ignore",
  );
}

export function forward(
  model: ChatProxy,
  { request, passThrough }: ReturnType<typeof makeChatCall>,
  signal: AbortSignal,
) {
  return model.forward(request, passThrough, signal);
}
