/** Records a chat between its guardrails and its client. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import type { ChatAnswer, ChatRunEvent } from "../chat-call.ts";
import { ContentRecorder } from "../content-recorder.ts";
import type { RequestRecording } from "./request-recording.ts";

/** An answer that its caller asks to store, at its end. */
interface CompleteChat {
  recording: RequestRecording;
  /** ID that an upstream gave the answer, where it was forwarded. */
  forwardedId: string | undefined;
  answer: Pick<ChatAnswer, "id" | "createdAt" | "model">;
  usage: TokenUsage;
}

/** Stores an answer before its client gets the end of it. Never throws. */
export type StoreChat = (chat: CompleteChat) => Promise<void>;

/** Records an answer to `call`, which the guardrails have passed, as the client gets it. */
export function recordChat(
  call: ChatCall,
  answer: ChatAnswer,
  recording: RequestRecording,
  store: StoreChat | undefined,
): ChatAnswer {
  const recorder = new ContentRecorder(call);
  const { tools } = call.request;
  recording.readWith(() => ({
    ...recorder.content(),
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
  }));
  const record = async function* <Event extends ChatRunEvent>(events: AsyncIterable<Event>): AsyncGenerator<Event> {
    for await (const event of events) {
      recorder.add(event);
      if (event.type === "finish") {
        await store?.({ recording, forwardedId: recorder.forwarded()?.id, answer, usage: event.usage });
      }
      yield event;
    }
  };
  const { bytes, events } = answer;
  return bytes === undefined ? { ...answer, events: record(events) } : { ...answer, bytes: record(bytes) };
}

/** Records a chat that no model has answered yet. */
export function recordPrompt(call: ChatCall, recording: RequestRecording): void {
  recording.readWith(() => new ContentRecorder(call).content());
}
