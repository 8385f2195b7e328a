/** Transport to a server over streamable HTTP: through the guard of addresses, within bytes, without redirects. */

import type { FetchLike, Transport } from "@modelcontextprotocol/client";
import type { Dispatcher, RequestInit as UndiciRequestInit } from "undici";
import { Fault } from "../../kernel/faults.ts";
import type { ConnectionWatch } from "./mcp-connection.ts";

export interface HttpTransportOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  dispatcher: Dispatcher;
  /** Bytes of all answers of the connection. */
  maxBytes: number;
  /** Counts bytes that have arrived, in addition to those before. Throws a Fault when too many are in memory. */
  hold?: ((bytes: number) => void) | undefined;
  /** Account whose token every request has; undefined: none. */
  account?: Account | undefined;
}

/** Access tokens of an account at the server. */
export interface Account {
  /** Names the account and its tokens: what a server offers depends on them. */
  readonly key: string;
  token(): Promise<string>;
  /** Gets another token after the server refused the last one. */
  renew(): Promise<void>;
  /** Throws the failure for a server that asks for further scopes. */
  refuseScopes(scopes: string | undefined): Promise<never>;
}

/** Time after the end of its last stream in which a server may still be asked for the rest of an answer. */
const RESUME_MS = 3_000;

export async function openHttpTransport(
  { url, headers, dispatcher, account, ...bounds }: HttpTransportOptions,
  watch: ConnectionWatch,
): Promise<Transport> {
  const { StreamableHTTPClientTransport, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const streams = new AnswerStreams(bounds, watch);
  const fetch: FetchLike = async (address, init) => {
    // A stream of notifications says nothing about the end of an answer.
    const answers = init?.method === "POST" || new Headers(init?.headers).has("last-event-id");
    const stream = answers ? streams.open() : streams.ignore();
    try {
      const sent = { ...init, dispatcher, redirect: "manual" } as UndiciRequestInit;
      const undici = await import("undici");
      const response = await undici.fetch(String(address), sent);
      const facts = { status: response.status, statusText: response.statusText, headers: [...response.headers] };
      if (response.body === null) {
        stream.end();
        return new Response(null, facts);
      }
      const body = stream.count(response.body as ReadableStream<Uint8Array>);
      const answer = new Response(body, facts as ResponseInit);
      if (account !== undefined && answer.status === 403) {
        const { error, scope } = extractWWWAuthenticateParams(answer);
        if (error === "insufficient_scope") await account.refuseScopes(scope);
      }
      return answer;
    } catch (error) {
      stream.end();
      throw error;
    }
  };
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    requestInit: { headers: { ...headers } },
    ...(account && { authProvider: { token: () => account.token(), onUnauthorized: () => account.renew() } }),
  });
}

interface AnswerStream {
  end(): void;
  /** Passes the body on, within the limit. */
  count(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array>;
}

/** Counts what arrives, and notices that nothing more will. */
class AnswerStreams {
  readonly #bounds: Pick<HttpTransportOptions, "maxBytes" | "hold">;
  readonly #watch: ConnectionWatch;
  #bytes = 0;
  #count = 0;
  #silence: NodeJS.Timeout | undefined;

  constructor(bounds: Pick<HttpTransportOptions, "maxBytes" | "hold">, watch: ConnectionWatch) {
    this.#bounds = bounds;
    this.#watch = watch;
  }

  open(): AnswerStream {
    this.#count += 1;
    clearTimeout(this.#silence);
    return this.#stream(() => {
      this.#count -= 1;
      if (this.#count > 0) return;
      const error = new Error("The server ended its answer before it was complete.");
      this.#silence = setTimeout(() => this.#watch.isWaiting() && this.#watch.fail(error), RESUME_MS).unref();
    });
  }

  /** A stream whose end means nothing. */
  ignore(): AnswerStream {
    return this.#stream(() => {});
  }

  #stream(onEnd: () => void): AnswerStream {
    let hasEnded = false;
    const end = () => {
      if (!hasEnded) onEnd();
      hasEnded = true;
    };
    return { end, count: (body) => this.#counted(body, end) };
  }

  #counted(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
    const { maxBytes, hold } = this.#bounds;
    const reader = body.getReader();
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) {
            end();
            controller.close();
            return;
          }
          this.#bytes += value.length;
          if (this.#bytes > maxBytes) {
            throw new Error(`The server sent more than ${maxBytes} bytes, the limit for its answers.`);
          }
          hold?.(value.length);
          controller.enqueue(value);
        } catch (error) {
          end();
          await reader.cancel().catch(() => {});
          if (this.#bytes > maxBytes || error instanceof Fault) this.#watch.fail(error as Error);
          controller.error(error);
        }
      },
      cancel: async (reason) => {
        end();
        await reader.cancel(reason);
      },
    });
  }
}
