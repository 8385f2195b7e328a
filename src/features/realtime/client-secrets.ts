/** Client secrets of the Realtime API: short-lived stand-ins for a key, which browsers may hold. */

import { hash, randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { sentKey } from "../../http/sent-key.ts";
import { refuseEnded } from "../../http/standing.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault, unavailable } from "../../kernel/faults.ts";
import { Secret } from "../../kernel/secret.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts, Callers } from "../accounts/index.ts";
import {
  countClientSecrets,
  findClientSecret,
  insertClientSecret,
  removeExpiredClientSecrets,
} from "./client-secret-queries.ts";

const PREFIX = "ek_";
const SECRET_BYTES = 24;
/** Prefix and the secret's bytes in hexadecimal; others are refused without a query. */
const FORM = /^ek_[0-9a-f]{48}$/;
/** Secrets that one key may have at a time. */
const MAX_PER_KEY = 10_000;

type ParentAccounts = Pick<Accounts, "endOf"> & {
  callers: Pick<Callers, "credentialOf" | "current" | "findSession">;
};

/** What is encrypted with a secret. */
interface Parent {
  session: string;
  /** Hash of the key or console session with which it was created. */
  credential?: string;
  /** Epoch milliseconds at which the token ends with which it was created. */
  endsAt?: number;
}

export interface NewClientSecret {
  secret: Secret;
  /** Epoch milliseconds. */
  expiresAt: number;
}

export interface OpenedClientSecret {
  caller: Caller;
  /** Session configuration as it was given to `create`. */
  session: string;
  /** Authenticates the caller again, also after the secret has expired. Throws a Fault. */
  authenticate: () => Promise<Caller>;
  /** Throws a Fault once what the secret was created with has ended: a key, a console session or a token. */
  checkStanding: () => Promise<void>;
}

export class ClientSecrets {
  readonly #database: Database;
  readonly #accounts: ParentAccounts;

  constructor(database: Database, accounts: ParentAccounts) {
    this.#database = database;
    this.#accounts = accounts;
  }

  /**
   * Creates a secret that stands for the key, console session or token of a request, and ends with it. `session` is
   * stored encrypted with the secret itself.
   */
  async create(
    { caller, headers }: Pick<FastifyRequest, "caller" | "headers">,
    session: string,
    seconds: number,
  ): Promise<NewClientSecret> {
    const { keyId } = caller;
    const endsAt = this.#accounts.endOf(sentKey(headers));
    const secret = new Secret(`${PREFIX}${randomBytes(SECRET_BYTES).toString("hex")}`);
    const secretHash = hashClientSecret(secret.reveal());
    const createdAt = Date.now();
    const expiresAt = Math.min(createdAt + seconds * 1000, endsAt ?? Infinity);
    const parent: Parent = {
      session,
      credential: this.#accounts.callers.credentialOf(caller),
      ...(endsAt && { endsAt }),
    };
    const sealed = new Keyring([secret]).encrypt(JSON.stringify(parent), secretHash).toString("base64");
    await this.#database.transaction(async (executor) => {
      await removeExpiredClientSecrets(executor, createdAt);
      if ((await countClientSecrets(executor, keyId)) >= MAX_PER_KEY) throw tooMany();
      await insertClientSecret(executor, { secretHash, keyId, session: sealed, createdAt, expiresAt });
    });
    return { secret, expiresAt };
  }

  /** Throws a Fault for a secret that does not exist or has expired. */
  async open(secret: string): Promise<OpenedClientSecret> {
    const secretHash = hashClientSecret(secret);
    const row = FORM.test(secret)
      ? await this.#database.run((executor) => findClientSecret(executor, secretHash))
      : undefined;
    if (row === undefined) throw incorrect();
    if (row.expiresAt <= Date.now()) {
      const message = "This client secret has expired. Create another one with POST /v1/realtime/client_secrets.";
      throw new Fault("unauthenticated", message, { code: "client_secret_expired" });
    }
    const sealed = new Keyring([new Secret(secret)]).decrypt(Buffer.from(row.session, "base64"), secretHash);
    const { session, credential, endsAt } = JSON.parse(sealed) as Parent;
    // Of an earlier version: it would have ended within two hours.
    if (credential === undefined) throw incorrect();
    const { callers } = this.#accounts;
    const require = (caller: Caller | undefined): Caller => {
      refuseEnded(endsAt);
      // A console session that has changed to another project has another key.
      return caller?.keyId === row.keyId ? caller : refuseKey();
    };
    const authenticate = async () => require(await callers.findSession(credential));
    const caller = await authenticate();
    const checkStanding = async () => void require(await callers.current(caller));
    return { caller, session, authenticate, checkStanding };
  }
}

function refuseKey(): never {
  const message = "The key or session of this client secret does not work any more.";
  throw new Fault("unauthenticated", message, { code: "invalid_api_key" });
}

export function isClientSecret(key: string | undefined): key is string {
  return key?.startsWith(PREFIX) === true;
}

function hashClientSecret(secret: string): string {
  return hash("sha256", `client secret\0${secret}`);
}

function incorrect(): Fault {
  const message = "Incorrect client secret provided. It may have expired; create another one.";
  return new Fault("unauthenticated", message, { code: "invalid_api_key" });
}

function tooMany(): Fault {
  const message = `This key has ${MAX_PER_KEY} client secrets, the limit. Retry when some of them have expired.`;
  return unavailable(message, "server_is_overloaded", 60);
}
