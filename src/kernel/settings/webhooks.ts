/** Addresses and keys of receivers in the form of the Standard Webhooks specification. */

import { z } from "zod";
import { Secret } from "../secret.ts";

/** Bounds of the Standard Webhooks specification. */
const KEY_BYTES = { min: 24, max: 64 };

function keyBytes(secret: string): number {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  return encoded === undefined ? 0 : Buffer.from(encoded, "base64").length;
}

export const webhookUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL" })
  .max(2000)
  .refine((url) => URL.parse(url)?.username === "", { error: "must not contain a user name or a password" });

export const webhookSecret = z
  .string()
  .refine((secret) => keyBytes(secret) >= KEY_BYTES.min && keyBytes(secret) <= KEY_BYTES.max, {
    error: `must be whsec_ and ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes in base64, such as the output of: echo "whsec_$(openssl rand -base64 32)"`,
  })
  .transform((secret) => new Secret(secret))
  .describe("Key of the signatures: `whsec_` and 24 to 64 bytes in base64. Pass it as an environment variable.");
