/** Google's token endpoint on loopback, and the key file of a service account that it knows. */

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";

interface GoogleOauth extends AsyncDisposable {
  /** Path of the key file. */
  keyFile: string;
  /** Access tokens that were issued, `token-1` first. */
  readonly issued: readonly string[];
}

const EMAIL = "robot@example.org";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Refuses assertions of other keys, issuers, audiences and scopes. */
export async function startGoogleOauth(): Promise<GoogleOauth> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const issued: string[] = [];
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const checks = { issuer: EMAIL, audience: tokenUri };
    const verified = await jwtVerify(form.get("assertion") ?? "", publicKey, checks).catch(() => undefined);
    const isAllowed = form.get("grant_type") === GRANT && String(verified?.payload.scope).endsWith("/cloud-platform");
    if (!isAllowed) {
      response.writeHead(400).end(JSON.stringify({ error: "invalid_grant" }));
      return;
    }
    issued.push(`token-${issued.length + 1}`);
    response.end(JSON.stringify({ access_token: issued.at(-1), expires_in: 3600, token_type: "Bearer" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const tokenUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const folder = await mkdtemp(join(tmpdir(), "google-"));
  const keyFile = join(folder, "key.json");
  const key = { type: "service_account", client_email: EMAIL, private_key_id: "key-1", token_uri: tokenUri };
  await writeFile(keyFile, JSON.stringify({ ...key, private_key: await exportPKCS8(privateKey) }));
  return {
    keyFile,
    issued,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true });
    },
  };
}
