/** One GET to the hub, through its redirects. Sends the token to the hub's host only. */

import type { Dispatcher } from "undici";
import { Fault } from "../../kernel/faults.ts";
import { request as send } from "../../kernel/outgoing/undici.ts";
import type { Secret } from "../../kernel/secret.ts";

export interface HubRequest {
  url: string;
  token: Secret | undefined;
  /** Headers for every hop, such as Range. */
  headers: Readonly<Record<string, string>>;
  dispatcher: Dispatcher | undefined;
  /** Time limit for connecting, redirects and headers together. */
  answerWithinMs: number;
  /** Maximum pause in the body. */
  idleMs: number;
  signal: AbortSignal;
}

export interface HubAnswer {
  status: number;
  headers: Dispatcher.ResponseData["headers"];
  body: Dispatcher.ResponseData["body"];
  /** SHA-256 and size of the complete file from the hub's host; a redirect target knows neither. */
  linked: { sha256: string | undefined; bytes: number | undefined };
  /** The hub's error code. */
  errorCode: string | undefined;
}

const MAX_REDIRECTS = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Throws undici's error without an answer, and the signal's reason on abort. */
export async function requestHub(ask: HubRequest): Promise<HubAnswer> {
  const controller = new AbortController();
  const late = setTimeout(
    () => controller.abort(new Error(`no answer within ${ask.answerWithinMs / 1000} s`)),
    ask.answerWithinMs,
  );
  try {
    return await follow(ask, AbortSignal.any([ask.signal, controller.signal]));
  } finally {
    clearTimeout(late);
  }
}

async function follow(ask: HubRequest, signal: AbortSignal): Promise<HubAnswer> {
  const home = new URL(ask.url).origin;
  const linked: HubAnswer["linked"] = { sha256: undefined, bytes: undefined };
  let url = new URL(ask.url);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const authorization = url.origin === home && ask.token ? { authorization: `Bearer ${ask.token.reveal()}` } : {};
    const { statusCode, headers, body } = await send(url, {
      headers: { "user-agent": "parlance", "accept-encoding": "identity", ...ask.headers, ...authorization },
      headersTimeout: ask.answerWithinMs,
      bodyTimeout: ask.idleMs,
      signal,
      ...(ask.dispatcher && { dispatcher: ask.dispatcher }),
    });
    linked.sha256 ??= sha256In(headers["x-linked-etag"]);
    linked.bytes ??= parseWholeNumber(headers["x-linked-size"]);
    if (!REDIRECTS.has(statusCode) || headers.location === undefined) {
      return { status: statusCode, headers, body, linked, errorCode: text(headers["x-error-code"]) };
    }
    await body.dump();
    url = new URL(text(headers.location) ?? "", url);
  }
  throw new Fault("upstream-failed", `the hub redirected more than ${MAX_REDIRECTS} times`);
}

function sha256In(etag: string | string[] | undefined): string | undefined {
  return /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(text(etag) ?? "")?.[1];
}

/** Parses a header of digits; undefined for anything else. */
export function parseWholeNumber(value: string | string[] | undefined): number | undefined {
  return /^\d{1,15}$/.test(text(value) ?? "") ? Number(text(value)) : undefined;
}

/** Returns the first value of a header. */
export function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
