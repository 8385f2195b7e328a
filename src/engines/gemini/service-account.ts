/** Access tokens of a Google service account (RFC 7523). */

import { readFile } from "node:fs/promises";
import { importPKCS8, SignJWT } from "jose";
import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { bearerTokens } from "../native-upstream/access-token.ts";
import type { Authorize } from "../openai-compatible/authorize.ts";

const KeyFile = lazy.object(() => ({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.url().default("https://oauth2.googleapis.com/token"),
}));

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";

/** Throws a Fault for a file that is not the key of a service account. */
export async function openServiceAccount(path: string, deployment: string): Promise<Authorize> {
  const { client_email, private_key, private_key_id, token_uri } = await readKeyFile(path);
  const key = await importPKCS8(private_key, "RS256").catch(() => {
    throw invalidRequest(`service_account_file: ${path} has no valid private_key.`, "service_account_file");
  });
  return bearerTokens(deployment, async () => {
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(private_key_id !== undefined && { kid: private_key_id }) })
      .setIssuer(client_email)
      .setAudience(token_uri)
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(key);
    return { url: token_uri, form: { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion } };
  });
}

async function readKeyFile(path: string): Promise<z.output<typeof KeyFile>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw invalidRequest(`service_account_file: ${path} cannot be read (${code}).`, "service_account_file");
  }
  try {
    return KeyFile.parse(JSON.parse(text));
  } catch {
    const problem = `${path} is not the JSON key of a service account, with client_email and private_key`;
    throw invalidRequest(`service_account_file: ${problem}.`, "service_account_file");
  }
}
