import type { ChatRequest } from "../../src/engines/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../src/engines/default-chat-request.ts";

type Asked = Partial<Omit<ChatRequest, "messages" | "wire">> & {
  /** One user message, for short. */
  say?: string;
  messages?: ChatRequest["messages"];
  wire?: Record<string, unknown>;
};

/** A chat request whose `wire` says the same as its other fields. */
export function makeChatRequest(asked: Asked = {}): ChatRequest {
  const { say, messages = [{ role: "user", content: say ?? "Say hello." }], wire, ...fields } = asked;
  const request: Omit<ChatRequest, "wire"> = {
    ...DEFAULT_CHAT_REQUEST,
    model: "test-model",
    messages,
    stream: true,
    ...fields,
  };
  return {
    ...request,
    wire: {
      model: request.model,
      messages,
      ...(request.maxTokens === undefined ? {} : { max_tokens: request.maxTokens }),
      temperature: request.temperature,
      ...(request.seed === undefined ? {} : { seed: request.seed }),
      ...(request.stop.length === 0 ? {} : { stop: request.stop }),
      stream: request.stream,
      ...wire,
    },
  };
}
