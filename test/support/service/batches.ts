/** Input and results of batches in tests. */

import { setTimeout as pause } from "node:timers/promises";
import type OpenAI from "openai";
import { toFile } from "openai";
import type { Batch } from "openai/resources/batches";

export interface ResultLine {
  custom_id: string;
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  error: { code: string; message: string } | null;
}

/** Line that asks the model for an answer to `content`. */
export function chatLine(customId: string, content: string, model = "parrot"): Record<string, unknown> {
  const body = { model, messages: [{ role: "user", content }] };
  return { custom_id: customId, method: "POST", url: "/v1/chat/completions", body };
}

export async function uploadLines(client: OpenAI, lines: readonly unknown[]): Promise<string> {
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  const file = await toFile(Buffer.from(text), "input.jsonl");
  return (await client.files.create({ file, purpose: "batch" })).id;
}

type Options = Partial<Omit<OpenAI.BatchCreateParams, "completion_window">> & { completion_window?: string };

export async function createBatch(client: OpenAI, lines: readonly unknown[], options: Options = {}): Promise<Batch> {
  const input_file_id = await uploadLines(client, lines);
  const defaults = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  return client.batches.create({ ...defaults, ...options } as OpenAI.BatchCreateParams);
}

/** Resolves once the batch has ended. */
export async function untilEnded(client: OpenAI, { id }: { id: string }, seconds = 200): Promise<Batch> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const batch = await client.batches.retrieve(id);
    if (["completed", "failed", "expired", "cancelled"].includes(batch.status)) return batch;
    if (Date.now() > deadline) throw new Error(`still ${batch.status}: ${JSON.stringify(batch.request_counts)}`);
    await pause(50);
  }
}

export async function readLines(client: OpenAI, fileId: string | null | undefined): Promise<ResultLine[]> {
  if (!fileId) return [];
  const text = await (await client.files.content(fileId)).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ResultLine);
}

/** The answer's text by custom ID. */
export async function readAnswers(client: OpenAI, batch: Batch): Promise<Map<string, string>> {
  const lines = await readLines(client, batch.output_file_id);
  return new Map(
    lines.map(({ custom_id, response }) => {
      const body = response?.body as unknown as OpenAI.ChatCompletion;
      return [custom_id, body.choices[0]?.message.content ?? ""];
    }),
  );
}
