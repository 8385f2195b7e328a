/** Downloads what a URL refers to, within bounds. */

import { VERSION } from "../version.ts";
import { AddressRefused, type OutgoingGuard, parseUrl } from "./outgoing-guard.ts";
import { request } from "./undici.ts";

export interface Download {
  bytes: Buffer;
  /** Media type of the response, without parameters; undefined: it has none. */
  mediaType: string | undefined;
}

export interface DownloadOptions {
  maxBytes: number;
  signal: AbortSignal;
}

/** Failed download, whose message completes the sentence "it could not be fetched: …". */
export class DownloadFailed extends Error {
  override readonly name = "DownloadFailed";
}

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Longest silence of a server. */
const SILENCE_MS = 15_000;
const LOOK_LIKE_TIMEOUTS: ReadonlySet<unknown> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Follows up to five redirects, each checked like the first address. Throws AddressRefused or DownloadFailed. */
export async function download(guard: OutgoingGuard, url: string, options: DownloadOptions): Promise<Download> {
  let target = parseUrl(url);
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const result = await attempt(guard, target, options);
      if (!(result instanceof URL)) return result;
      target = result;
    }
  } catch (failure) {
    throw options.signal.aborted ? options.signal.reason : toDownloadFailure(failure);
  }
  throw new DownloadFailed(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** Returns the address that a redirect leads to, or the response. */
async function attempt(
  { dispatcher }: OutgoingGuard,
  url: URL,
  { maxBytes, signal }: DownloadOptions,
): Promise<URL | Download> {
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    signal,
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    headers: { "user-agent": `Parlance/${VERSION}`, accept: "*/*", "accept-encoding": "identity" },
  });
  try {
    if (REDIRECTS.has(statusCode)) return redirectTarget(headers.location, url);
    if (statusCode !== 200) throw new DownloadFailed(`the server answered with status ${statusCode}`);
    if (headers["content-encoding"] !== undefined) throw new DownloadFailed("the server compressed it without request");
    const tooLarge = new DownloadFailed(`it is larger than ${maxBytes} bytes`);
    if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge;
      chunks.push(chunk);
    }
    const type = headers["content-type"];
    const mediaType = (Array.isArray(type) ? type[0] : type)?.split(";")[0]?.trim().toLowerCase();
    return { bytes: Buffer.concat(chunks), mediaType: mediaType || undefined };
  } finally {
    // The rest of an unread body is not downloaded.
    body.on("error", () => {}).destroy();
  }
}

function redirectTarget(location: string | string[] | undefined, from: URL): URL {
  const target = URL.parse(String(location), from.href);
  if (location === undefined || target === null) throw new DownloadFailed("it redirects without an address");
  return parseUrl(target.href);
}

function toDownloadFailure(failure: unknown): AddressRefused | DownloadFailed {
  if (failure instanceof AddressRefused || failure instanceof DownloadFailed) return failure;
  const code = (failure as { code?: unknown }).code;
  const message = LOOK_LIKE_TIMEOUTS.has(code) ? "the server did not answer in time" : "the connection failed";
  return new DownloadFailed(message, { cause: failure });
}
