/** Renders a complete answer as stream frames, for answers that are validated first. */

interface Choice {
  index?: number;
  message?: Record<string, unknown>;
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
  const envelope = { ...rest, object: "chat.completion.chunk", ...(hasUsageFrame ? { usage: null } : {}) };
  const frames = (choices as Choice[]).flatMap(({ index = 0, message, logprobs = null, finish_reason }) => [
    toFrame({ ...envelope, choices: [{ index, delta: toDelta(message), logprobs, finish_reason: null }] }),
    toFrame({ ...envelope, choices: [{ index, delta: {}, logprobs: null, finish_reason }] }),
  ]);
  return {
    frames: Buffer.from(frames.join("")),
    usageFrame: Buffer.from(toFrame({ ...envelope, choices: [], usage })),
  };
}

function toDelta(message: Record<string, unknown> = {}): Record<string, unknown> {
  const calls = message.tool_calls;
  if (!Array.isArray(calls)) return message;
  return { ...message, tool_calls: calls.map((call: object, index) => ({ index, ...call })) };
}

function toFrame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
