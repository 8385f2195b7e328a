/** Renders a complete answer as stream frames, for answers that are validated first. */

interface Choice {
  index?: number;
  message?: Record<string, unknown>;
  /** Text of a text completion, whose frames have the form of the answer. */
  text?: string;
  logprobs?: unknown;
  finish_reason?: unknown;
}

interface CompletionFrames {
  frames: Uint8Array;
  usageFrame: Uint8Array;
}

/** Renders each choice as one frame and its end as another. `hasUsageFrame`: the caller requested one at the end. */
export function completionToSse(
  completion: Readonly<Record<string, unknown>>,
  hasUsageFrame: boolean,
): CompletionFrames {
  const { usage, choices, ...rest } = completion;
  const object = rest.object === "text_completion" ? rest.object : "chat.completion.chunk";
  const envelope = { ...rest, object, ...(hasUsageFrame ? { usage: null } : {}) };
  const frames = (choices as Choice[]).flatMap(({ index = 0, message, text, logprobs = null, finish_reason }) =>
    text === undefined
      ? [
          toFrame({ ...envelope, choices: [{ index, delta: toDelta(message), logprobs, finish_reason: null }] }),
          toFrame({ ...envelope, choices: [{ index, delta: {}, logprobs: null, finish_reason }] }),
        ]
      : [toFrame({ ...envelope, choices: [{ index, text, logprobs, finish_reason }] })],
  );
  return {
    frames: Buffer.from(frames.join("")),
    usageFrame: Buffer.from(toFrame({ ...envelope, choices: [], usage })),
  };
}

/** Renders an answer of an upstream that ignores `stream`, with its usage, as the entire stream. */
export function completionToStream(completion: Readonly<Record<string, unknown>>): Buffer {
  const { frames, usageFrame } = completionToSse(completion, true);
  const end = completion.usage === undefined ? [] : [usageFrame];
  return Buffer.concat([frames, ...end, Buffer.from("data: [DONE]\n\n")]);
}

function toDelta(message: Record<string, unknown> = {}): Record<string, unknown> {
  const calls = message.tool_calls;
  if (!Array.isArray(calls)) return message;
  return { ...message, tool_calls: calls.map((call: object, index) => ({ index, ...call })) };
}

function toFrame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
