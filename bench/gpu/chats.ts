/** Streamed chats whose tokens are timed. */

import { randomUUID } from "node:crypto";
import type { Service } from "../../test/support/service/service.ts";

export interface TimedChat {
  tokens: number;
  firstMs: number;
  gapsMs: number[];
}

/** About 115 tokens of a tokenizer of bytes, with another beginning each time: nothing is reused. */
const prompt = () => `${randomUUID()} Write a very long story about a dragon that eats granite on Mondays.`;

export async function runChat(service: Service, maxTokens: number, fields: object = {}): Promise<TimedChat> {
  const startedAt = performance.now();
  const response = await service.post("/v1/chat/completions", {
    model: "m",
    messages: [{ role: "user", content: prompt() }],
    max_tokens: maxTokens,
    temperature: 0.8,
    top_p: 0.95,
    top_k: 40,
    logit_bias: { 0: -100 },
    stream: true,
    stream_options: { include_usage: true },
    ...fields,
  });
  if (response.status !== 200 || response.body === null) throw new Error(await response.text());
  const at: number[] = [];
  let tokens = 0;
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      tokens = Number(/"completion_tokens":(\d+)/.exec(line)?.[1] ?? tokens);
      if (/"content":"[^"]/.test(line)) at.push(performance.now());
    }
  }
  const gapsMs = at.slice(1).map((time, index) => time - (at[index] as number));
  return { tokens, firstMs: (at[0] ?? Number.NaN) - startedAt, gapsMs };
}

export function percentile(all: readonly number[], share: number): string {
  const sorted = all.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN).toFixed(0);
}
