/** Downloads files from the Hugging Face hub or a compatible mirror. */

import { createHash, type Hash } from "node:crypto";
import { dirname } from "node:path";
import type { Dispatcher } from "undici";
import { backoffDelay } from "../../kernel/async/backoff.ts";
import { sleep } from "../../kernel/async/retry.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Secret } from "../../kernel/secret.ts";
import { ensureFreeSpace, isDiskFullError } from "../free-space.ts";
import { hashFile, writeHashed } from "../hash-file.ts";
import type { HubLocation } from "../manifest/manifest-entry.ts";
import { continues, isComplete, rangeFrom, rejectMismatch, totalBytes } from "./hub-answer.ts";
import { HubPart } from "./hub-part.ts";
import { hubRefusal } from "./hub-refusal.ts";
import { type HubAnswer, requestHub, text } from "./hub-request.ts";
import { readUntilError } from "./read-until-error.ts";
import { type FetchedFile, type FetchRequest, type Source, SourceUnreachable } from "./source.ts";

export interface HubSettings {
  /** Without a trailing slash. */
  endpoint: string;
  token: Secret | undefined;
  /** True: never contact the hub. */
  offline: boolean;
  /** Undefined: undici's default, without a proxy. */
  dispatcher?: Dispatcher;
  /** Maximum time to the first response before the hub counts as unreachable. */
  unreachableAfterMs?: number;
  /** Maximum pause in a download before it counts as interrupted. */
  idleMs?: number;
  /** Pause before an interrupted download resumes; doubled after each consecutive failure. */
  retryDelayMs?: number;
}

/** Consecutive attempts without a byte after which a download fails. */
const MAX_FAILED_ATTEMPTS = 5;

/** The connection broke or the hub is busy: a retry may succeed. */
class Interrupted extends Error {}

export class HuggingFaceSource implements Source<HubLocation> {
  readonly resumes = true;
  readonly #settings: Required<Omit<HubSettings, "dispatcher" | "token">> & Pick<HubSettings, "dispatcher" | "token">;
  #hasAnswered = false;

  constructor(settings: HubSettings) {
    this.#settings = { unreachableAfterMs: 5_000, idleMs: 30_000, retryDelayMs: 500, ...settings };
  }

  async fetch(location: HubLocation, request: FetchRequest): Promise<FetchedFile> {
    const { endpoint, offline, retryDelayMs } = this.#settings;
    if (offline) throw new SourceUnreachable("HF_HUB_OFFLINE is set");
    const path = location.path.split("/").map(encodeURIComponent).join("/");
    const url = `${endpoint}/${location.repository}/resolve/${encodeURIComponent(location.revision)}/${path}`;
    const part = new HubPart(request.destination, url);
    for (let failures = 0; ; ) {
      const before = (await part.read())?.bytes ?? 0;
      try {
        return await this.#attempt(url, part, location, request);
      } catch (error) {
        request.signal.throwIfAborted();
        if (!(error instanceof Interrupted)) throw error;
        const after = (await part.read())?.bytes ?? 0;
        failures = after > before ? 0 : failures + 1;
        if (failures >= MAX_FAILED_ATTEMPTS) {
          throw new Fault("upstream-failed", `given up after ${failures} attempts in a row: ${error.message}`, {
            cause: error,
          });
        }
        await sleep(backoffDelay(failures + 1, { initial: retryDelayMs }), request.signal);
      }
    }
  }

  async #attempt(url: string, part: HubPart, location: HubLocation, request: FetchRequest): Promise<FetchedFile> {
    const earlier = await part.read();
    // Hashed before the request: the hub would not wait while gigabytes are hashed.
    const earlierHash = earlier && (await hashFile(part.path, request.signal));
    const answer = await this.#ask(url, earlier && rangeFrom(earlier.bytes, earlier.note.etag), request.signal);
    const { status, linked } = answer;
    const body = readUntilError(answer.body);
    try {
      if (earlier && earlierHash && isComplete(answer, earlier)) {
        return { bytes: earlier.bytes, sha256: earlierHash.digest("hex"), statedSha256: linked.sha256 };
      }
      const isRest = status === 206 && earlier !== undefined && continues(answer, earlier);
      if (status === 416 || (status === 206 && !isRest)) {
        await part.discard();
        throw new Interrupted(`the hub does not continue the download (${status})`);
      }
      if (status !== 200 && !isRest) throw this.#refusal(answer, location);
      rejectMismatch(request.expected, answer);
      const offset = isRest ? earlier.bytes : 0;
      const total = totalBytes(answer);
      await ensureFreeSpace(dirname(part.path), (total ?? 0) - offset);
      if (!isRest) await part.begin({ etag: text(answer.headers.etag), sha256: linked.sha256 });
      const hash = isRest && earlierHash ? earlierHash : createHash("sha256");
      const bytes = offset + (await writeBody(body, part, { hash, offset, total, request }));
      if (total !== undefined && bytes < total) throw new Interrupted("the hub ended the download early");
      return { bytes, sha256: hash.digest("hex"), statedSha256: linked.sha256 };
    } finally {
      answer.body.destroy();
    }
  }

  #refusal({ status, errorCode }: HubAnswer, location: HubLocation): Error {
    if (status === 429 || status >= 500) return new Interrupted(`the hub answered ${status}`);
    const { endpoint, token } = this.#settings;
    return hubRefusal(status, errorCode, { location, endpoint, hasToken: token !== undefined });
  }

  async #ask(url: string, headers: Record<string, string> = {}, signal: AbortSignal): Promise<HubAnswer> {
    const { token, dispatcher, unreachableAfterMs, idleMs } = this.#settings;
    const answerWithinMs = this.#hasAnswered ? idleMs : unreachableAfterMs;
    try {
      const answer = await requestHub({ url, token, headers, dispatcher, answerWithinMs, idleMs, signal });
      this.#hasAnswered = true;
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Fault) throw error;
      const reason = reasonOf(error);
      throw this.#hasAnswered
        ? new Interrupted(reason, { cause: error })
        : new SourceUnreachable(`${new URL(url).host} cannot be reached: ${reason}`, { cause: error });
    }
  }
}

interface BodyPlace {
  hash: Hash;
  /** Bytes that are already in the file; 0 replaces it. */
  offset: number;
  total: number | undefined;
  request: FetchRequest;
}

async function writeBody(
  body: AsyncIterable<Buffer>,
  part: HubPart,
  { hash, offset, total, request }: BodyPlace,
): Promise<number> {
  const fileBytes = total ?? request.expected.bytes;
  try {
    return await writeHashed(body, part.path, {
      hash,
      mode: offset > 0 ? "append" : "replace",
      maxBytes: fileBytes === undefined ? undefined : fileBytes - offset,
      signal: request.signal,
      onBytes: (bytes) => request.onProgress(offset + bytes, total),
    });
  } catch (error) {
    if (isDiskFullError(error)) throw error;
    if (error instanceof Fault && !request.signal.aborted) {
      // A part of another file must not be resumed.
      await part.discard();
      throw error;
    }
    throw new Interrupted(`the download was cut off: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several refused addresses arrive as one AggregateError without a message.
  return error.message || String("code" in error ? error.code : error.name);
}
