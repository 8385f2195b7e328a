import { createHmac } from "node:crypto";
import type { Secret } from "../../kernel/secret.ts";

export interface SignedWebhook {
  /** The same for each attempt: receivers recognize repetitions by it. */
  id: string;
  /** Epoch seconds of the attempt. */
  timestamp: number;
  payload: string;
}

/** Headers of the Standard Webhooks specification, version 1 (HMAC-SHA256). */
export function signWebhook({ id, timestamp, payload }: SignedWebhook, secret: Secret): Record<string, string> {
  const key = Buffer.from(secret.reveal().replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${payload}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": `${timestamp}`, "webhook-signature": `v1,${signature}` };
}
