/**
 * Puts content in place of the addresses and files that a request names. Upstreams fetch any address, those of their own
 * network included, and look files up in an account that all projects share.
 */

import { basename } from "node:path";
import type { FastifyReply } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import type { BodyMemory } from "../../http/body-memory.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import type { Inference } from "../../inference/inference.ts";
import { KeyedLimits } from "../../kernel/async/keyed-limits.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { outlineOf } from "../../kernel/json/json-outline.ts";
import { download } from "../../kernel/outgoing/download.ts";
import { AddressRefused, type OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import {
  type ContentReference,
  findReferences,
  findToolReferences,
  type ResolvedContent,
  withContents,
} from "../../wire/content-references.ts";
import { ContentBounds } from "./content-bounds.ts";
import { opaque, rethrowFor, serversRefused, shorten, tooSlow, urlsRefused } from "./content-refusals.ts";
import type { FileStore } from "./file-store.ts";
import { mediaTypeOf } from "./media-type.ts";

/** `allow`: upstreams get any address. `public`: the service fetches public ones. `refuse`: content comes in the request. */
export type UpstreamUrlsPolicy = "allow" | "public" | "refuse";

export interface ContentResolverOptions {
  inference: { models: Pick<Inference["models"], "mayReadMedia"> };
  files: Pick<FileStore, "find" | "read">;
  policy: UpstreamUrlsPolicy;
  /** Reaches public addresses only. */
  guard: OutgoingGuard;
  /** Maximum bytes of all content of one request. */
  maxBytes: number;
  /** Counts downloaded bytes with those of large bodies. */
  memory?: BodyMemory;
}

/** Returns a body with content in place of what `fields` refer to. Throws a Fault. */
export type BodyContent = <Body extends { model?: string | undefined }>(
  reply: FastifyReply,
  body: Body,
  fields: readonly (keyof Body & string)[],
  purpose?: ContentPurpose,
) => Body | Promise<Body>;

interface ContentPurpose {
  /** Default: chat. */
  task?: "chat" | "moderation";
  /** Whether the request counts already; default: it counts before anything is read for it. */
  isCounted?: boolean;
}

interface ResolveOptions {
  task?: "chat" | "moderation" | undefined;
  /** Whether the texts of documents are read for a model that reads nothing else. */
  readsTexts?: boolean;
  /** Whether those of images are. */
  readsImages?: boolean;
  /** Counts the request, once. Throws a Fault for one for which nothing is read. */
  admit?: (() => Promise<void>) | undefined;
}

/** How content is read for one answer. */
export interface ContentReading {
  signal: AbortSignal;
  /** Counts what content occupies until the answer ends, in all. Throws a Fault when too much is in memory. */
  hold: (bytes: number) => void;
  /** Counts the answer as a request before anything is read. Throws a Fault. */
  admit?: (() => Promise<void>) | undefined;
}

/** Whose request the content is for. */
interface Purpose extends ContentReading {
  caller: Caller;
}

const TIMEOUT_MS = 30_000;
/** Downloads of one project at the same time. */
const CONCURRENCY = 8;
const TOOL_FIELDS: ReadonlySet<string> = new Set(["tools", "mcp_servers"]);

export class ContentResolver {
  readonly #options: ContentResolverOptions;
  /** By project, so that slow servers of one do not delay another. */
  readonly #limits = new KeyedLimits(CONCURRENCY);

  constructor(options: ContentResolverOptions) {
    this.#options = options;
  }

  /**
   * Returns the body with content in place of what `fields` refer to; the body itself if there is nothing to replace or
   * only local models may answer, which refuse other references themselves. Throws a Fault for what may not be sent.
   */
  inBody<Body extends { model?: string | undefined }>(
    reply: FastifyReply,
    body: Body,
    fields: readonly (keyof Body & string)[],
    { task = "chat", readsTexts = false, readsImages = false, admit }: ResolveOptions = {},
  ): Body | Promise<Body> {
    const { caller } = reply.request;
    // Texts that an outline leaves out are no references.
    const { fields: outlined = body } = outlineOf(body) ?? {};
    const references = referencesOf(outlined as Body, fields);
    const becomeTexts = references.some(({ param }) => (isImageAddress(param) ? readsImages : readsTexts));
    if (!becomeTexts && !this.#mayRead(caller, body.model, task, references)) return body;
    return this.#replace(body, fields, { ...this.#purposeOf(reply), admit });
  }

  /**
   * Reads what a request refers to, for models that get content in any case. Returns it by the path of its reference.
   * Throws a Fault for what may not be read.
   */
  readAll(reply: FastifyReply, references: readonly ContentReference[]): Promise<Map<string, ResolvedContent>> {
    const { policy } = this.#options;
    return this.#bounded(this.#purposeOf(reply), async (context) => {
      context.bounds.addReferences(references);
      return this.#read(references, { ...context, policy: policy === "allow" ? "public" : policy });
    });
  }

  #purposeOf(reply: FastifyReply): Purpose {
    const { request, raw } = reply;
    const { memory } = this.#options;
    const leaving = new AbortController();
    onDisconnect(reply)(() => leaving.abort(new Fault("client-left", "The client left.")));
    const before = memory?.heldBy(request) ?? 0;
    const hold = (bytes: number) => memory?.hold(request, before + bytes, raw);
    return { caller: request.caller, signal: leaving.signal, hold };
  }

  /** Returns items of a conversation with content in place of what they refer to, for one answer of `model`. Throws a Fault. */
  async inItems<Items>(
    { caller, model }: { caller: Caller; model: string },
    items: Items,
    reading: ContentReading,
  ): Promise<Items> {
    const body = { input: items };
    if (!this.#mayRead(caller, model, "chat", referencesOf(body, ["input"]))) return items;
    return (await this.#replace(body, ["input"], { ...reading, caller })).input;
  }

  /** Images are refused by models without vision. */
  #mayRead(caller: Caller, model: string | undefined, task: "chat" | "moderation", references: ContentReference[]) {
    if (references.length === 0) return false;
    const isImage = ({ kind, param }: ContentReference) => kind === "url" && isImageAddress(param);
    const media = references.every(isImage) ? "images" : "files";
    return this.#options.inference.models.mayReadMedia(caller, model, task, media);
  }

  #replace<Body extends object>(body: Body, fields: readonly (keyof Body & string)[], purpose: Purpose): Promise<Body> {
    return this.#bounded(purpose, async (context) => {
      const replaced = { ...body };
      for (const field of fields) {
        const references = referencesIn(body[field], field);
        if (references.length === 0) continue;
        if (needsResolver(context.policy, references)) await purpose.admit?.();
        context.bounds.addReferences(references);
        if (TOOL_FIELDS.has(field)) await this.#checkTools(references);
        else replaced[field] = withContents(body[field], field, await this.#read(references, context));
      }
      return replaced;
    });
  }

  async #bounded<Result>(
    { caller, signal, hold }: Purpose,
    read: (context: ReadContext) => Promise<Result>,
  ): Promise<Result> {
    const { maxBytes, policy } = this.#options;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    // As it came, and as it is passed on.
    const bounds = new ContentBounds(maxBytes, (bytes) => hold(2 * bytes));
    // A failure ends the downloads that still run.
    const failing = new AbortController();
    try {
      return await read({ caller, policy, signal: AbortSignal.any([signal, timeout, failing.signal]), bounds });
    } catch (failure) {
      failing.abort(failure);
      signal.throwIfAborted();
      throw timeout.aborted ? tooSlow(TIMEOUT_MS) : failure;
    }
  }

  async #read(references: readonly ContentReference[], context: ReadContext): Promise<Map<string, ResolvedContent>> {
    const { projectId, organizationId } = context.caller;
    const project = projectId ?? organizationId;
    const contents = new Map<string, ResolvedContent>();
    const reading = references.map((reference) =>
      this.#limits.run(project, async () => {
        context.signal.throwIfAborted();
        const content = await this.#readOne(reference, context);
        if (content !== undefined) contents.set(reference.param, content);
      }),
    );
    await Promise.all(reading);
    return contents;
  }

  /** Resolves with undefined for an address that the upstream gets as it is. */
  async #readOne(reference: ContentReference, context: ReadContext): Promise<ResolvedContent | undefined> {
    const { policy } = context;
    if (reference.kind === "file") return this.#readFile(reference, context);
    if (policy === "allow") return undefined;
    if (reference.kind === "opaque") throw opaque(reference.param);
    if (policy === "refuse") throw urlsRefused(reference.param);
    const { url, param } = reference;
    const { bounds, signal } = context;
    const options = { maxBytes: bounds.remainingBytes, signal };
    const { bytes, mediaType } = await download(this.#options.guard, url, options).catch(rethrowFor(url, param));
    bounds.addBytes(bytes.length);
    const filename = filenameOf(url);
    return { bytes, filename, mediaType: mediaTypeOf(bytes, filename, mediaType) };
  }

  /** Reads a file of the caller's project. */
  async #readFile(
    { id, param }: ContentReference & { kind: "file" },
    { caller, bounds, signal }: ReadContext,
  ): Promise<ResolvedContent> {
    const { files } = this.#options;
    const resource = { projectId: caller.projectId ?? "", id };
    const { filename, bytes: size } = await files.find(resource).catch((failure: unknown) => {
      if (!(failure instanceof Fault) || failure.kind !== "not-found") throw failure;
      const message = `This project has no file '${id.slice(0, 100)}'. GET /v1/files lists its files.`;
      throw invalidRequest(message, param, "invalid_value");
    });
    bounds.addBytes(size);
    const chunks: Uint8Array[] = [];
    for await (const chunk of await files.read(resource)) {
      signal.throwIfAborted();
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    return { bytes, filename, mediaType: mediaTypeOf(bytes, filename) };
  }

  /** Hosted tools connect by themselves, so their addresses can only be checked. */
  async #checkTools(references: readonly ContentReference[]): Promise<void> {
    const { policy, guard } = this.#options;
    for (const reference of references) {
      const { param } = reference;
      if (policy === "allow") return;
      if (reference.kind !== "url") throw opaque(param);
      if (policy === "refuse") throw serversRefused(param);
      await guard.check(reference.url).catch((failure: unknown) => {
        if (!(failure instanceof AddressRefused)) throw failure;
        const message = `'${shorten(reference.url)}' is not an address of the internet: ${failure.message}. An operator adds servers in private networks to 'mcp_servers'; name such a server without its address.`;
        throw invalidRequest(message, param, "invalid_url");
      });
    }
  }
}

function isImageAddress(param: string): boolean {
  return param.includes(".image_url");
}

/** Whether a request that names these needs a resolver. */
export function needsResolver(policy: UpstreamUrlsPolicy, references: readonly ContentReference[]): boolean {
  return references.some(({ kind }) => policy !== "allow" || kind === "file");
}

interface ReadContext {
  caller: Caller;
  policy: UpstreamUrlsPolicy;
  signal: AbortSignal;
  bounds: ContentBounds;
}

function referencesOf<Body extends object>(body: Body, fields: readonly (keyof Body & string)[]): ContentReference[] {
  return fields.flatMap((field) => referencesIn(body[field], field));
}

function referencesIn(value: unknown, field: string): ContentReference[] {
  if (typeof value !== "object" || value === null) return [];
  return TOOL_FIELDS.has(field)
    ? findToolReferences(value, field as "tools" | "mcp_servers")
    : findReferences(value, field);
}

function filenameOf(url: string): string {
  return basename(URL.parse(url)?.pathname ?? "").slice(0, 255) || "file";
}
