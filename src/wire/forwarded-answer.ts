/** Answers of upstreams that speak the caller's format themselves. */

import type { AnswerText, TextDelta } from "../contracts/answer-text.ts";
import type { ForwardedCompletion, ForwardedEvent } from "../contracts/chat-proxy.ts";

type Fields = Record<string, unknown>;

/** Called with the last event of a stream, or the complete answer, before the caller gets it. */
export type OnComplete = (fields: Fields) => Promise<void>;

export async function* toForwardedFrames(
  bytes: AsyncIterable<ForwardedEvent>,
  onComplete?: OnComplete,
): AsyncGenerator<string | Uint8Array> {
  for await (const event of bytes) {
    if (event.type === "frames") {
      yield event.frames;
      continue;
    }
    const fields = { ...event.completion?.fields };
    await onComplete?.(fields);
    yield `event: ${String(fields.type)}\ndata: ${JSON.stringify(fields)}\n\n`;
  }
}

/** Returns the complete answer; {} if the client has disconnected. */
export async function toForwardedAnswer(
  bytes: AsyncIterable<ForwardedEvent>,
  onComplete?: OnComplete,
): Promise<Fields> {
  const completion = await readCompletion(bytes);
  if (completion === undefined) return {};
  const fields = { ...completion.fields };
  await onComplete?.(fields);
  return fields;
}

/** Returns an answer that was not streamed; undefined if the client has disconnected. */
export async function readCompletion(bytes: AsyncIterable<ForwardedEvent>): Promise<ForwardedCompletion | undefined> {
  let completion: ForwardedCompletion | undefined;
  for await (const event of bytes) {
    if (event.type === "finish") completion = event.completion ?? { fields: {}, json: "{}" };
  }
  return completion;
}

/** How one wire format writes the text of its answers. */
export interface WireText {
  textsOfFrames(frames: Uint8Array): readonly TextDelta[];
  /** The choices that end in these frames. */
  endedIn(frames: Uint8Array): readonly number[];
  textsOfCompletion(completion: ForwardedCompletion): readonly TextDelta[];
  /** A frame that ends these choices of the stream which `frames` are part of. */
  endBlocked(frames: Uint8Array, choices: readonly number[]): Uint8Array;
  /** The completion with its text removed. */
  emptyBlocked(completion: ForwardedCompletion): ForwardedCompletion;
}

/** Returns how moderation reads and ends forwarded answers of a format. */
export function forwardedText(format: WireText): AnswerText<ForwardedEvent> {
  return {
    textsOf(event) {
      if (event.type === "frames") return format.textsOfFrames(event.frames);
      return event.completion === undefined ? [] : format.textsOfCompletion(event.completion);
    },
    endedIn: (event) => (event.type === "frames" ? format.endedIn(event.frames) : []),
    endBlocked(held, open) {
      const last = held.findLast((event) => event.type === "frames");
      return last === undefined ? [] : [{ ...last, frames: format.endBlocked(last.frames, open) }];
    },
    withoutText(event) {
      if (event.type === "frames" || event.completion === undefined) return event;
      return { ...event, completion: format.emptyBlocked(event.completion) };
    },
    finish: (usage) => ({ type: "finish", usage }),
  };
}
