/** Encrypted parts of grants. Each is bound to its grant, owner and server: no other row decrypts it. */

import { z } from "zod";
import { DecryptionError, type Keyring } from "../../../kernel/encryption/keyring.ts";
import { lazy } from "../../../kernel/lazy.ts";
import type { McpGrantRow, McpRevocationRow } from "../mcp-grant-rows.ts";

/** This service as the authorization server knows it. */
export const GrantClient = lazy.object(() => ({
  id: z.string(),
  secret: z.string().optional(),
  authentication: z.enum(["client_secret_basic", "client_secret_post", "none"]),
}));

export const GrantTokens = lazy.object(() => ({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** Resource indicator of the tokens (RFC 8707). */
  resource: z.string(),
  client: GrantClient,
}));

/** An authorization request on its way through the browser. */
export const GrantRequest = lazy.object(() => ({
  state: z.string(),
  /** SHA-256 of the token in the browser's cookie. */
  cookieHash: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  url: z.string(),
  issuer: z.string(),
  resource: z.string(),
  scope: z.string().optional(),
  client: GrantClient,
  expiresAt: z.number(),
  /** Who began. Missing in requests that an earlier version began. */
  author: z
    .object({ userId: z.string().nullable(), keyId: z.string().nullable(), sessionId: z.string().optional() })
    .optional(),
}));

/** What revokes tokens, without anything of their owner. */
const Revocation = lazy.object(() => ({
  server: z.object({ name: z.string(), url: z.string(), issuer: z.string().optional() }),
  issuer: z.string(),
  tokens: GrantTokens,
}));

export type Revocation = z.output<typeof Revocation>;
export type GrantClient = z.output<typeof GrantClient>;
export type GrantTokens = z.output<typeof GrantTokens>;
export type GrantRequest = z.output<typeof GrantRequest>;

type Place = Pick<McpGrantRow, "id" | "userId" | "projectId" | "server">;
type Part = "tokens" | "request";

export class SealedGrants {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  seal(row: Place, part: Part, content: GrantTokens | GrantRequest): Buffer {
    return this.#keyring.encrypt(JSON.stringify(content), toText(row, part));
  }

  /** Undefined without tokens, or when their key was removed. */
  openTokens(row: Place & Pick<McpGrantRow, "tokens">): GrantTokens | undefined {
    return this.#open(row, "tokens", GrantTokens);
  }

  /** Undefined without a request, or when its key was removed. */
  openRequest(row: Place & Pick<McpGrantRow, "request">): GrantRequest | undefined {
    return this.#open(row, "request", GrantRequest);
  }

  /** Returns the part encrypted with the current key; undefined where it is already, or cannot be read. */
  reencrypt(row: Place & Pick<McpGrantRow, Part>, part: Part): Buffer | undefined {
    const sealed = row[part];
    if (sealed === null || this.#keyring.isCurrent(sealed)) return undefined;
    const text = this.#decrypt(row, part);
    return text === undefined ? undefined : this.#keyring.encrypt(text, toText(row, part));
  }

  sealRevocation(grantId: string, content: Revocation): Buffer {
    return this.#keyring.encrypt(JSON.stringify(content), revocationText(grantId));
  }

  /** Undefined when its key was removed. */
  openRevocation({ grantId, content }: McpRevocationRow): Revocation | undefined {
    const text = this.#decryptText(content, revocationText(grantId));
    return text === undefined ? undefined : Revocation.parse(JSON.parse(text));
  }

  /** Returns the content encrypted with the current key; undefined where it is already, or cannot be read. */
  reencryptRevocation({ grantId, content }: McpRevocationRow): Buffer | undefined {
    if (this.#keyring.isCurrent(content)) return undefined;
    const text = this.#decryptText(content, revocationText(grantId));
    return text === undefined ? undefined : this.#keyring.encrypt(text, revocationText(grantId));
  }

  #open<Schema extends z.ZodType>(
    row: Place & { [Each in Part]?: Buffer | null },
    part: Part,
    schema: Schema,
  ): z.output<Schema> | undefined {
    const text = this.#decrypt(row, part);
    return text === undefined ? undefined : schema.parse(JSON.parse(text));
  }

  #decrypt(row: Place & { [Each in Part]?: Buffer | null }, part: Part): string | undefined {
    const sealed = row[part] ?? null;
    return sealed === null ? undefined : this.#decryptText(sealed, toText(row, part));
  }

  #decryptText(sealed: Buffer, place: string): string | undefined {
    try {
      return this.#keyring.decrypt(sealed, place);
    } catch (failure) {
      if (failure instanceof DecryptionError) return undefined;
      throw failure;
    }
  }
}

function revocationText(grantId: string): string {
  return `mcp revocation ${grantId}`;
}

function toText({ id, userId, projectId, server }: Place, part: Part): string {
  return `mcp grant ${part} ${id} ${userId ?? ""} ${projectId ?? ""} ${server}`;
}
