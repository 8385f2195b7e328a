/** Requests to addresses that the operator configured, through the guard of outgoing connections, within bounds. */

import type { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { VERSION } from "../../kernel/version.ts";

/** Discovery documents, key sets and answers with tokens are some kilobytes. */
const MAX_ANSWER_BYTES = 1024 ** 2;

export type ProviderFetch = (url: string, options: object) => Promise<Response>;

export function providerFetch(guard: OutgoingGuard): ProviderFetch {
  return async (url, options) => {
    const { headers, ...rest } = options as { headers?: Headers };
    const sent = new Headers(headers);
    sent.set("user-agent", `Parlance/${VERSION}`);
    const undici = await import("undici");
    const answer = await undici.fetch(url, {
      ...rest,
      headers: [...sent],
      redirect: "manual",
      dispatcher: guard.dispatcher,
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body ?? []) {
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) throw new Error(`the answer of ${url} exceeds ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
    // Statuses without a body, such as 204.
    const body = size === 0 ? null : Buffer.concat(chunks);
    return new Response(body, { status: answer.status, headers: [...answer.headers] });
  };
}
