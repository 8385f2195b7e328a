/**
 * What a client sends to a call that runs: answers to questions and cancellations, each in a request apart, which may
 * reach another replica than the call did. That one leaves it in the database.
 */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { deleteOldMcpMessages, insertMcpMessage, measureMcpMessages, takeMcpMessages } from "./mcp-queries.ts";

export interface ClientMessage {
  projectId: string;
  /** What it belongs to, which only its sender and the replica that waits know. */
  key: string;
  content: Readonly<Record<string, unknown>>;
}

type Receive = (content: Readonly<Record<string, unknown>>) => void;

const POLL_MS = 250;
const POLLED_AT_ONCE = 500;
/** Messages of a project that no replica has taken yet, and their bytes. */
const MAX_STORED = 1000;
const MAX_STORED_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 256 * 1024;
const KEEP_MS = 10 * MINUTE_MS;

export class ClientMessages implements AsyncDisposable {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #waiting = new Map<string, Receive>();
  /** Messages are stored one after the other: each is counted before the next one. */
  #storing: Promise<unknown> = Promise.resolve();
  #poll: Poll | undefined;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Calls `receive` with the message of a key, until it is disposed. */
  expect(key: string, receive: Receive): Disposable {
    this.#waiting.set(key, receive);
    // With SQLite, this is the only process.
    if (this.#database.kind === "postgresql") {
      const onFailure = (err: unknown) => this.#logger.warn({ err }, "cannot read messages of MCP clients");
      this.#poll ??= new Poll(() => this.#take(), { everyMs: POLL_MS, onFailure });
    }
    return {
      [Symbol.dispose]: () => {
        this.#waiting.delete(key);
        if (this.#waiting.size > 0) return;
        this.#poll?.stop();
        this.#poll = undefined;
      },
    };
  }

  /**
   * Passes a message to the call that waits for it, here or in another replica. Throws a Fault for one that is too large,
   * and while too many of the project wait.
   */
  async deliver({ projectId, key, content }: ClientMessage): Promise<void> {
    const text = JSON.stringify(content);
    if (Buffer.byteLength(text) > MAX_BYTES) {
      const message = `The answer has more than ${MAX_BYTES} bytes, the limit for answers to a server's question.`;
      throw new Fault("invalid-request", message, { code: "answer_too_large" });
    }
    const receive = this.#waiting.get(key);
    if (receive !== undefined) return receive(content);
    if (this.#database.kind !== "postgresql") return;
    const storing = this.#storing.then(() => this.#store(key, projectId, text));
    this.#storing = storing.catch(() => {});
    await storing;
  }

  #store(key: string, projectId: string, text: string): Promise<void> {
    const now = Date.now();
    const row = { id: idOf(key), projectId, content: encrypt(text, key), createdAt: now };
    return this.#database.run(async (executor) => {
      await deleteOldMcpMessages(executor, now - KEEP_MS);
      const { count, bytes } = await measureMcpMessages(executor, projectId);
      if (count < MAX_STORED && bytes + row.content.length <= MAX_STORED_BYTES) return insertMcpMessage(executor, row);
      const message = `No call has taken ${count} answers and cancellations of MCP clients of this project, with ${bytes} bytes; the limits are ${MAX_STORED} and ${MAX_STORED_BYTES} bytes. Answer questions of running calls only, and retry in ${KEEP_MS / MINUTE_MS} minutes.`;
      const details = { code: "too_many_mcp_messages", retryAfterSeconds: KEEP_MS / 1000 };
      throw new Fault("request-rate-limited", message, details);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#waiting.clear();
    await this.#poll?.[Symbol.asyncDispose]();
  }

  async #take(): Promise<void> {
    const keys = new Map([...this.#waiting.keys()].map((key) => [idOf(key), key]));
    const ids = [...keys.keys()];
    for (let from = 0; from < ids.length; from += POLLED_AT_ONCE) {
      const some = ids.slice(from, from + POLLED_AT_ONCE);
      for (const { id, content } of await this.#database.run((executor) => takeMcpMessages(executor, some))) {
        const key = keys.get(id) ?? "";
        this.#waiting.get(key)?.(JSON.parse(decrypt(content, key)));
      }
    }
  }
}

function idOf(key: string): string {
  return createHash("sha256").update(`id ${key}`).digest("hex");
}

function secretOf(key: string): Buffer {
  return createHash("sha256").update(`content ${key}`).digest();
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

function encrypt(text: string, key: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", secretOf(key), iv);
  return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

function decrypt(content: string, key: string): string {
  const bytes = Buffer.from(content, "base64");
  const decipher = createDecipheriv("aes-256-gcm", secretOf(key), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}
