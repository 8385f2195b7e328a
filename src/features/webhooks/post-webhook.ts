import type { Dispatcher } from "undici";
import { request } from "../../kernel/outgoing/undici.ts";
import type { Secret } from "../../kernel/secret.ts";
import { VERSION } from "../../kernel/version.ts";
import { signWebhook } from "./sign-webhook.ts";

const TIMEOUT_MS = 15_000;
/** Bytes of an answer that the log shows. */
const ANSWER_BYTES = 1_000;

export interface WebhookPost {
  url: string;
  /** Connects to allowed addresses only. */
  dispatcher: Dispatcher;
  secrets: readonly Secret[];
  eventId: string;
  payload: string;
}

export interface WebhookAnswer {
  /** HTTP status. */
  status: number;
  /** Beginning of the answer. */
  answer: string;
}

/** Sends a signed event. Redirects are not followed. Throws when there is no answer within 15 s. */
export async function postWebhook(post: WebhookPost, signal: AbortSignal): Promise<WebhookAnswer> {
  const { url, dispatcher, secrets, eventId: id, payload } = post;
  const signed = { id, timestamp: Math.floor(Date.now() / 1000), payload };
  const { statusCode, body } = await request(url, {
    method: "POST",
    dispatcher,
    headers: {
      ...signWebhook(signed, ...secrets),
      "content-type": "application/json",
      "user-agent": `Parlance/${VERSION}`,
    },
    body: payload,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  return { status: statusCode, answer: await readStart(body) };
}

/** Reads the beginning of an answer. The delivery does not depend on the rest. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= ANSWER_BYTES) break;
    }
  } catch {
    // The status counts.
  }
  // PostgreSQL stores no NUL in texts.
  return Buffer.concat(parts).subarray(0, ANSWER_BYTES).toString().replaceAll("\0", "");
}
