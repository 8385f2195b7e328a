/** Blobs as objects of an S3-compatible store. */

import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import type { Dispatcher } from "undici";
import { retry } from "../../kernel/async/retry.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault, unavailable } from "../../kernel/faults.ts";
import { request as send } from "../../kernel/outgoing/undici.ts";
import type { BlobStore, ByteRange } from "./blob-store.ts";
import type { S3Options } from "./settings.ts";

interface S3Request {
  method: "GET" | "PUT" | "DELETE";
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Opened again for each attempt. */
  body?: () => AsyncIterable<Uint8Array>;
  /** Statuses to return rather than throw, beside those below 300. */
  expected?: readonly number[];
}

type Answer = Dispatcher.ResponseData;

const ATTEMPTS = 4;
const BACKOFF = { initial: 200, jitter: [0.5, 1] } as const;
const HEADERS_TIMEOUT_MS = 30_000;
const IDLE_MS = MINUTE_MS;

class StoreRefusal extends Error {
  readonly isTemporary: boolean;

  constructor(status: number, text: string) {
    super(`the store answered ${status}: ${text.slice(0, 300)}`);
    this.isTemporary = status >= 500 || status === 429;
  }
}

export class S3Blobs implements BlobStore {
  readonly #options: S3Options;

  constructor(options: S3Options) {
    this.#options = options;
  }

  /** Throws a Fault for a wrong bucket or key. A store that does not answer may do so later. */
  async check(): Promise<void> {
    const expected = [301, 400, 403, 404];
    const query = { "list-type": "2", "max-keys": "1", prefix: this.#options.prefix };
    const answer = await this.#send({ method: "GET", query, expected }).catch(() => undefined);
    if (answer === undefined) return;
    const text = await answer.body.text();
    if (answer.statusCode < 300) return;
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? answer.statusCode;
    const message = `Files cannot be stored: the bucket ${this.#options.bucket} of ${this.#options.endpoint} answers ${code}. Check files.s3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`;
    throw new Fault("invalid-request", message);
  }

  async putFile(key: string, path: string): Promise<void> {
    const { size } = await stat(path);
    const headers = { "content-length": String(size) };
    const answer = await this.#send({ method: "PUT", key, headers, body: () => createReadStream(path) });
    await answer.body.dump();
    await rm(path, { force: true });
  }

  async read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    const headers = range && { range: `bytes=${range.offset}-${range.offset + range.length - 1}` };
    const answer = await this.#send({ method: "GET", key, expected: [404], ...(headers && { headers }) });
    if (answer.statusCode !== 404) return answer.body;
    await answer.body.dump();
    throw new Fault("not-found", "The content of this file is missing in the storage.");
  }

  async delete(keyOrFolder: string): Promise<void> {
    const keys = keyOrFolder.endsWith("/") ? await this.#list(keyOrFolder) : [keyOrFolder];
    for (const key of keys) {
      const answer = await this.#send({ method: "DELETE", key, expected: [404] });
      await answer.body.dump();
    }
    // A listing has at most 1,000 keys.
    if (keyOrFolder.endsWith("/") && keys.length > 0) await this.delete(keyOrFolder);
  }

  async #list(folder: string): Promise<string[]> {
    const { prefix } = this.#options;
    const answer = await this.#send({ method: "GET", query: { "list-type": "2", prefix: prefix + folder } });
    const text = await answer.body.text();
    return [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) => key.slice(prefix.length));
  }

  async #send(request: S3Request): Promise<Answer> {
    const attempt = async () => {
      const answer = await this.#sendOnce(request);
      const { statusCode } = answer;
      if (statusCode < 300 || request.expected?.includes(statusCode) === true) return answer;
      throw new StoreRefusal(statusCode, await answer.body.text());
    };
    const isRetryable = (error: unknown) => !(error instanceof StoreRefusal) || error.isTemporary;
    return retry(attempt, { attempts: ATTEMPTS, backoff: BACKOFF, isRetryable }).catch((cause: unknown) => {
      const message = "The storage of files does not answer as it should. Retry in a few seconds.";
      throw unavailable(message, "server_is_overloaded", 5, cause);
    });
  }

  async #sendOnce({ method, key, query, headers, body }: S3Request): Promise<Answer> {
    const { endpoint, region, bucket, prefix, accessKeyId, secretAccessKey, sessionToken } = this.#options;
    const url = new URL(`${endpoint.replace(/\/+$/, "")}/${bucket}${key === undefined ? "" : `/${prefix}${key}`}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    // The body is signed as UNSIGNED-PAYLOAD: it is sent as it is read.
    const { AwsV4Signer } = await import("aws4fetch");
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      service: "s3",
      region,
      accessKeyId,
      secretAccessKey: secretAccessKey.reveal(),
      ...(sessionToken && { sessionToken: sessionToken.reveal() }),
    });
    const signed = await signer.sign();
    return send(signed.url, {
      method,
      headers: { ...Object.fromEntries(signed.headers), ...headers },
      headersTimeout: HEADERS_TIMEOUT_MS,
      bodyTimeout: IDLE_MS,
      ...(body && { body: body() as never }),
    });
  }
}
