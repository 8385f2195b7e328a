/** Writes the content of requests: masked, limited in size, compressed and encrypted, some requests at a time. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Caller } from "../../contracts/caller.ts";
import type { ContentMessage } from "../../contracts/chat-content.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import type { EndedRequest } from "../../http/request-log.ts";
import type { GuardrailServices } from "../../inference/guardrails/guardrail-services.ts";
import type { RecordingPolicy } from "../../inference/recording/recording-policy.ts";
import type { RecordedContent, RequestRecording } from "../../inference/recording/request-recording.ts";
import { resultWithin } from "../../kernel/async/timeout.ts";
import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import { limitMessages } from "../../observability/limit-messages.ts";
import type { Database } from "../../storage/database.ts";
import { hasFailed } from "../usage/index.ts";
import type { ContentSizes } from "./content-sizes.ts";
import { insertContents, type NewContent } from "./recorded-content-queries.ts";
import { findersOf, redactContent, type StorableContent } from "./redact-content.ts";
import type { CompletionFields, SealedContents } from "./sealed-content.ts";
import { type SearchTokens, wordsOf } from "./search-tokens.ts";
import type { RecordedContentSettings } from "./settings.ts";

export interface ContentWriterOptions {
  database: Database;
  sealed: SealedContents;
  tokens: SearchTokens;
  sizes: ContentSizes;
  settings: RecordedContentSettings;
  services: GuardrailServices;
  recordingOf: (caller: Caller) => RecordingPolicy | undefined;
  logger: Logger;
  /** Called with the number of requests whose content was lost. */
  onLost?: (requests: number) => void;
  /** Encrypted content that waits while the database refuses it. */
  maxHeldBytes?: number;
}

/** A request whose content waits to be read. */
interface Item extends Pick<RequestRecording, "guardrails" | "redact"> {
  entry: RequestEntry;
  policy: RecordingPolicy | undefined;
  read: () => RecordedContent | undefined;
  completion?: CompletionFields | undefined;
}

const WRITE_MS = 500;
/** Requests that wait to be masked; their bodies stay in memory meanwhile. */
const MAX_QUEUED = 1000;
/** Encrypted content that waits while the database is away. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Time after which other requests have their turn. */
const SLICE_MS = 5;
const REDACT_TIMEOUT_MS = 10_000;
const CLOSE_MS = 2000;
/** Content of this many times the limit is masked; no value that is masked is cut off its beginning within the limit. */
const MASKED_TIMES = 2;

export class ContentWriter {
  readonly #options: ContentWriterOptions;
  readonly #poll: Poll;
  readonly #closing = new AbortController();
  #queued: Item[] = [];
  #held: NewContent[] = [];
  #heldBytes = 0;
  #dropped = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ContentWriterOptions) {
    this.#options = options;
    this.#poll = new Poll(() => this.flush(), { everyMs: WRITE_MS });
  }

  /** Adds a request that its project records. */
  record({ entry, caller, recording, body }: EndedRequest): void {
    if (recording?.isStored) return;
    const isError = hasFailed(entry) && entry.status !== 499;
    const item = recording === undefined ? this.#failed(entry, caller, body) : toItem(entry, recording);
    const { policy } = item ?? {};
    if (item === undefined || policy === undefined || (policy.mode === "errors" && !isError)) return;
    if (this.#queued.length >= MAX_QUEUED) this.#drop(1);
    else this.#queued.push(item);
  }

  /** Stores a chat completion at once. Throws what the database throws. */
  async store(entry: RequestEntry, recording: RequestRecording, completion: CompletionFields): Promise<void> {
    const row = await this.#seal({ ...toItem(entry, recording), completion });
    if (row === undefined) return;
    await this.#write([row]);
    recording.isStored = true;
  }

  /** Writes what is held; keeps it for the next attempt while the database is unavailable. Never throws. */
  flush(): Promise<void> {
    if (this.#queued.length + this.#held.length > 0) this.#writing = this.#writing.then(() => this.#flush());
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#poll.stop();
    await resultWithin(this.flush(), CLOSE_MS);
    this.#closing.abort();
  }

  /** A request that was refused before it asked a model is recorded as its body. */
  #failed(entry: RequestEntry, caller: Caller, body: unknown): Item | undefined {
    const isRefused = entry.outcome === null && entry.details?.guardrails === undefined;
    if (!isRefused || typeof body !== "object" || body === null) return undefined;
    const policy = this.#options.recordingOf(caller);
    if (policy === undefined || Math.random() >= policy.share) return undefined;
    const read = (): RecordedContent => ({
      inputMessages: [{ role: "request", parts: [{ type: "text", content: JSON.stringify(body) }] }],
      outputMessages: [],
    });
    return { entry, policy, read, guardrails: [], redact: policy.redact };
  }

  async #flush(): Promise<void> {
    const items = this.#queued;
    this.#queued = [];
    let beganAt = performance.now();
    for (const item of items) {
      const row = await this.#seal(item);
      if (row !== undefined) {
        this.#held.push(row);
        this.#heldBytes += row.bytes;
      }
      if (performance.now() - beganAt < SLICE_MS) continue;
      await nextTurn();
      beganAt = performance.now();
    }
    const rows = this.#held;
    if (rows.length === 0) return;
    try {
      await this.#write(rows);
      this.#held = this.#held.slice(rows.length);
      this.#heldBytes -= rows.reduce((sum, { bytes }) => sum + bytes, 0);
    } catch (error) {
      this.#options.logger.debug({ error: String(error) }, "recorded content not written to the database yet");
      let dropped = 0;
      while (this.#heldBytes > (this.#options.maxHeldBytes ?? MAX_HELD_BYTES)) {
        this.#heldBytes -= this.#held.shift()?.bytes ?? this.#heldBytes;
        dropped += 1;
      }
      if (dropped > 0) this.#drop(dropped);
    }
  }

  async #write(rows: readonly NewContent[]): Promise<void> {
    const { database, sizes } = this.#options;
    await database.transaction((transaction) => insertContents(transaction, database.kind, rows));
    await sizes.add(rows);
  }

  /** Undefined: nothing was asked, or the content could not be masked. Never throws. */
  async #seal({ entry, policy, completion, read, ...masking }: Item): Promise<NewContent | undefined> {
    const { services, settings, sealed, tokens, logger } = this.#options;
    const { id, organizationId, projectId, keyId, at } = entry;
    try {
      const content = read();
      if (content === undefined) return undefined;
      const maxBytes = settings.maxContentKilobytes * 512;
      const finders = findersOf(masking, { services, project: projectId ?? organizationId });
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(REDACT_TIMEOUT_MS)]);
      const storable = { ...content, request: completion?.request };
      const bounded = limit(storable, finders.length === 0 ? maxBytes : MASKED_TIMES * maxBytes);
      const masked = limit(await redactContent(bounded, finders, signal), maxBytes);
      const isTruncated = bounded.isTruncated || masked.isTruncated || undefined;
      const { inputMessages, outputMessages, tools, request = {} } = masked;
      const stored = {
        entry,
        inputMessages,
        outputMessages,
        tools: tools?.length === 0 ? undefined : tools,
        isTruncated,
        completion: completion && { ...completion, request },
      };
      const bytes = sealed.seal({ projectId, id }, stored);
      const days = Math.max(policy?.keepDays ?? 0, completion === undefined ? 0 : settings.keepCompletionsDays);
      const words = policy?.isSearchable ? wordsOf(masked) : [];
      return {
        ...{ id, organizationId, projectId, keyId, at, bytes: bytes.length, content: bytes },
        endUser: entry.details?.endUser ?? null,
        completionId: completion?.id ?? null,
        model: completion?.model ?? entry.answeredBy,
        expiresAt: at + days * DAY_MS,
        tokens: tokens.index(projectId, words),
      };
    } catch (failure) {
      // The message may quote content.
      const name = failure instanceof Error ? failure.name : typeof failure;
      logger.warn(
        { requestId: id, error: name },
        "content of a request was not recorded, because it could not be masked",
      );
      return undefined;
    }
  }

  #drop(count: number): void {
    this.#dropped += count;
    this.#options.onLost?.(count);
    if (performance.now() - this.#warnedAt < MINUTE_MS) return;
    this.#warnedAt = performance.now();
    this.#options.logger.warn(
      { requests: this.#dropped },
      "content of requests was not recorded: the database is full, too slow or unavailable",
    );
    this.#dropped = 0;
  }
}

function toItem(entry: RequestEntry, recording: RequestRecording): Item {
  const { policy, guardrails, redact } = recording;
  return { entry, policy, guardrails, redact, read: () => recording.content() };
}

/**
 * Keeps the newest messages of the prompt, the beginning of the answer, all tools or none, and the fields of the request
 * but the largest.
 */
function limit(content: StorableContent, maxBytes: number): StorableContent & { isTruncated: boolean } {
  const input = cut(content.inputMessages, maxBytes, "newest");
  const output = cut(content.outputMessages, maxBytes, "oldest");
  const hasRoom = Buffer.byteLength(JSON.stringify(content.tools ?? [])) <= maxBytes;
  const request = content.request && fieldsWithin(content.request, maxBytes);
  return {
    inputMessages: input.messages,
    outputMessages: output.messages,
    tools: hasRoom ? content.tools : undefined,
    request: request?.fields,
    isTruncated: input.isTruncated || output.isTruncated || !hasRoom || request?.isTruncated === true,
  };
}

/** Leaves out the largest fields: a part of a schema or of tools would be another one. */
function fieldsWithin(fields: Readonly<Record<string, unknown>>, maxBytes: number) {
  const sizes = Object.entries(fields).map(([name, value]) => ({
    ...{ name, bytes: Buffer.byteLength(JSON.stringify({ [name]: value })) },
  }));
  sizes.sort((a, b) => a.bytes - b.bytes);
  let bytes = 0;
  const kept = new Set<string>();
  for (const size of sizes) {
    bytes += size.bytes;
    if (bytes <= maxBytes) kept.add(size.name);
  }
  const isTruncated = kept.size < sizes.length;
  return { fields: Object.fromEntries(Object.entries(fields).filter(([name]) => kept.has(name))), isTruncated };
}

function cut(messages: readonly ContentMessage[], maxBytes: number, keep: "newest" | "oldest") {
  if (Buffer.byteLength(JSON.stringify(messages)) <= maxBytes) return { messages, isTruncated: false };
  const { json, isTruncated } = limitMessages(messages, maxBytes, keep);
  return { messages: JSON.parse(json) as ContentMessage[], isTruncated };
}
