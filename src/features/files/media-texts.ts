/** Texts of documents, recordings and images in requests to models that read only texts. */

import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { holderOf } from "../../http/body-memory.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { KeyedLimits } from "../../kernel/async/keyed-limits.ts";
import { DocumentError } from "../../kernel/documents/document-error.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { outlineOf } from "../../kernel/json/json-outline.ts";
import { hasImages, hasMedia, type MediaKind, type MediaPart, withMediaTexts } from "../../wire/media-parts.ts";
import type { Recordings } from "../audio/index.ts";
import type { DocumentTexts } from "./document-texts.ts";

/** Processes that read documents at the same time, of which each project has one: a slow document holds up no other project. */
const CONCURRENCY = 4;
/** In all texts of a request: more than any context window holds. */
const MAX_CHARACTERS = 8_000_000;
const WHOLE = { maxTokens: 100_000, overlapTokens: 0 };
/** Clients send the content of a conversation again with each turn. */
const CACHE = { maxSize: 16_000_000, ttl: 15 * 60_000 };

export class MediaTexts {
  readonly #recordings: Recordings;
  readonly #documents: DocumentTexts;
  readonly #limit = pLimit(CONCURRENCY);
  readonly #ofProject = new KeyedLimits(1);
  /** By project, kind, name and content. */
  readonly #texts = new LRUCache<string, string>({ ...CACHE, sizeCalculation: ({ length }) => length + 1 });

  constructor(recordings: Recordings, documents: DocumentTexts) {
    this.#recordings = recordings;
    this.#documents = documents;
  }

  /** Whether `fields` contain or refer to documents, contain recordings, and contain or refer to images. */
  mediaIn<Body extends object>(
    body: Body,
    fields: readonly (keyof Body & string)[],
  ): { hasFiles: boolean; hasImages: boolean } {
    const outlined = (outlineOf(body)?.fields ?? body) as Body;
    return {
      hasFiles: fields.some((field) => hasMedia(outlined[field])),
      hasImages: fields.some((field) => hasImages(outlined[field])),
    };
  }

  /** Returns the body with texts in place of media of these kinds. Throws a Fault for those without a text. */
  async inBody<Body extends object>(
    reply: FastifyReply,
    body: Body,
    fields: readonly (keyof Body & string)[],
    kinds: ReadonlySet<MediaKind>,
  ): Promise<Body> {
    const leaving = new AbortController();
    onDisconnect(reply)(() => leaving.abort(new Fault("client-left", "The client left.")));
    const replaced = { ...body };
    let characters = 0;
    const read = async (media: MediaPart) => {
      if (!kinds.has(media.kind)) return undefined;
      const text = await this.#read(reply, media, leaving.signal);
      characters += text.length;
      if (characters > MAX_CHARACTERS) throw tooLong("the request", media.param);
      return text;
    };
    for (const field of fields) {
      replaced[field] = await withMediaTexts(body[field], field, read);
    }
    holderOf(reply)(characters);
    return replaced;
  }

  async #read(reply: FastifyReply, media: MediaPart, signal: AbortSignal): Promise<string> {
    const { kind, filename, data } = media;
    const hash = createHash("sha256").update(`${kind}\n${filename}\n`).update(data).digest("base64");
    const project = reply.request.caller.projectId ?? "";
    const key = `${project} ${hash}`;
    const cached = this.#texts.get(key);
    if (cached !== undefined) return cached;
    const text =
      kind === "audio"
        ? await this.#recordings.transcribe(reply, media, signal)
        : await this.#readFile(project, media, signal);
    this.#texts.set(key, text);
    return text;
  }

  #readFile(project: string, { kind, data, filename, param }: MediaPart, signal: AbortSignal): Promise<string> {
    return this.#takeTurn(project, async () => {
      signal.throwIfAborted();
      const chunks: string[] = [];
      let length = 0;
      try {
        const open = async function* () {
          yield Buffer.from(data, "base64");
        };
        for await (const { text } of this.#documents.read(open, { filename, chunking: WHOLE }, signal)) {
          length += text.length;
          if (length > MAX_CHARACTERS) throw tooLong(`'${filename}'`, param);
          chunks.push(text);
        }
      } catch (failure) {
        signal.throwIfAborted();
        if (!(failure instanceof DocumentError)) throw failure;
        const name = filename === "" ? `The ${kind}` : `'${filename}'`;
        const message = `${name} cannot be read as text, and this model reads nothing else. ${failure.message}`;
        throw invalidRequest(message, param, "invalid_value");
      }
      const text = chunks.join("\n");
      if (kind === "image") return `Text in an image:\n${text}`;
      return filename === "" ? text : `${filename}:\n${text}`;
    });
  }

  #takeTurn<Result>(project: string, work: () => Promise<Result>): Promise<Result> {
    return this.#ofProject.run(project, () => this.#limit(work));
  }
}

function tooLong(name: string, param: string): Fault {
  const message = `The text of ${name} has more than ${MAX_CHARACTERS} characters. Add the file to a vector store and search it with the tool file_search.`;
  return invalidRequest(message, param, "invalid_value");
}
