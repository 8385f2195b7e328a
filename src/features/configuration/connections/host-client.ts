/** Short requests to a host that an administrator wants to connect, through the guard of outgoing connections. */

import { AddressRefused, type OutgoingGuard } from "../../../kernel/outgoing/outgoing-guard.ts";
import { request } from "../../../kernel/outgoing/undici.ts";
import { VERSION } from "../../../kernel/version.ts";

const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 5_000;

export interface HostAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Parsed where the answer is JSON, otherwise its text. */
  body: unknown;
}

export interface HostOptions {
  guard: OutgoingGuard;
  /** Sent with each request. */
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export class HostClient {
  readonly #options: HostOptions;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** Undefined when the host does not answer in time. Throws AddressRefused, and the signal's reason on abort. */
  async get(url: string | URL, headers: Readonly<Record<string, string>> = {}): Promise<HostAnswer | undefined> {
    try {
      return await this.exchange("GET", url, { headers });
    } catch (failure) {
      if (failure instanceof AddressRefused || this.#options.signal.aborted) throw failure;
      return undefined;
    }
  }

  /** Throws what connecting throws. Redirects are not followed. */
  async exchange(
    method: "GET" | "POST",
    url: string | URL,
    { headers = {}, json }: { headers?: Readonly<Record<string, string>>; json?: unknown } = {},
  ): Promise<HostAnswer> {
    const response = await this.open(method, url, { headers, json, timeoutMs: TIMEOUT_MS });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString();
    return { status: response.statusCode, headers: toPlain(response.headers), body: parseJson(text) };
  }

  /** Sends a request whose body the caller reads. */
  async open(
    method: "GET" | "POST",
    url: string | URL,
    {
      headers = {},
      json,
      timeoutMs,
    }: { headers?: Readonly<Record<string, string>>; json?: unknown; timeoutMs: number },
  ) {
    const { guard, signal } = this.#options;
    return request(url, {
      method,
      dispatcher: guard.dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headers: {
        "user-agent": `Parlance/${VERSION}`,
        "accept-encoding": "identity",
        ...(json !== undefined && { "content-type": "application/json" }),
        ...this.#options.headers,
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
  }
}

function toPlain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
