/** Asks a service of the operator and reads its JSON answer, within bounds. */

import type { Dispatcher } from "undici";
import { request } from "./undici.ts";

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface AskOptions {
  dispatcher: Dispatcher;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Posts JSON. Rejects for an answer that is late, too long, not JSON or not a success. */
export function postJson(url: string, body: string, options: AskOptions): Promise<unknown> {
  return ask(url, body, { ...options, headers: { "content-type": "application/json", ...options.headers } });
}

/** Gets JSON; otherwise like `postJson`. */
export function getJson(url: string, options: AskOptions): Promise<unknown> {
  return ask(url, undefined, options);
}

async function ask(url: string, body: string | undefined, options: AskOptions): Promise<unknown> {
  const { statusCode, body: answer } = await request(url, {
    method: body === undefined ? "GET" : "POST",
    dispatcher: options.dispatcher,
    headers: options.headers,
    ...(body !== undefined && { body }),
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]),
  });
  if (statusCode < 200 || statusCode >= 300) {
    await answer.dump();
    // The answer may repeat the text that it was asked about.
    throw new Error(`it answered with the status ${statusCode}`);
  }
  let length = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`its answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new Error("its answer is not JSON");
  }
}
