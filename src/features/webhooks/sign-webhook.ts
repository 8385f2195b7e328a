import { createHmac } from "node:crypto";
import type { Secret } from "../../kernel/secret.ts";

export interface SignedWebhook {
  /** The same for each attempt: receivers recognize repetitions by it. */
  id: string;
  /** Epoch seconds of the attempt. */
  timestamp: number;
  payload: string;
}

/** Headers of the Standard Webhooks specification, version 1 (HMAC-SHA256), with a signature by each secret. */
export function signWebhook(
  { id, timestamp, payload }: SignedWebhook,
  ...secrets: readonly Secret[]
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().replace(/^whsec_/, ""), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${payload}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": `${timestamp}`, "webhook-signature": signatures.join(" ") };
}
