/** llama-server tells the usage of the first choice only, unless it streams. */

import { z } from "zod";
import type { ChatEvent } from "../chat-model.ts";
import type { ServerFacts } from "../host/messages.ts";
import { UpstreamError } from "../openai-compatible/upstream-error.ts";
import { toWireCompletion, type WireCompletion } from "../wire-completion.ts";

const Tokens = z.object({ tokens: z.array(z.unknown()) });

interface Choice {
  message?: { content?: unknown };
  finish_reason?: unknown;
}

/** The same answer with the tokens of all choices counted: the first as the server did, the others by its tokenizer. */
export async function* countChoices(
  events: AsyncIterable<ChatEvent>,
  facts: ServerFacts,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  for await (const event of events) {
    if (event.type !== "finish" || event.completion === undefined) {
      yield event;
      continue;
    }
    const { completion, usage } = event;
    const [, ...rest] = completion.fields.choices as Choice[];
    let others = 0;
    for (const choice of rest) others += await tokensOf(choice, facts, signal);
    const completionTokens = usage.completionTokens + others;
    yield { ...event, completion: withTokens(completion, others), usage: { ...usage, completionTokens } };
  }
}

async function tokensOf(choice: Choice, { origin, key }: ServerFacts, signal: AbortSignal): Promise<number> {
  const response = await fetch(`${origin}/tokenize`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    // What is no text, such as calls, is counted as it is written.
    body: JSON.stringify({ content: choice.message?.content ?? JSON.stringify(choice.message ?? "") }),
    signal,
  });
  const read = Tokens.safeParse(await response.json());
  if (!read.success) throw new UpstreamError("could not count the tokens of its answer");
  // The token that ended it was generated too.
  return read.data.tokens.length + (choice.finish_reason === "length" ? 0 : 1);
}

function withTokens(completion: WireCompletion, others: number): WireCompletion {
  const usage = completion.fields.usage as Record<string, number> | undefined;
  if (usage === undefined) return completion;
  const { completion_tokens: first = 0, total_tokens: total = 0 } = usage;
  return toWireCompletion({
    ...completion.fields,
    usage: { ...usage, completion_tokens: first + others, total_tokens: total + others },
  });
}
