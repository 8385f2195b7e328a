/** Content as it is stored: JSON, compressed by DEFLATE, encrypted with the keys of stored responses. */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { RequestEntry } from "../../http/request-entry.ts";
import type { RecordedContent } from "../../inference/recording/request-recording.ts";
import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";

/** What only a chat completion has that its caller stored. */
export interface CompletionFields {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  usage: Readonly<Record<string, unknown>>;
  metadata: Readonly<Record<string, string>>;
  /** Fields of the request that the API returns with the completion, such as `temperature`. */
  request: Readonly<Record<string, unknown>>;
}

export interface StoredContent extends RecordedContent {
  /** Metadata of the request, which the history keeps for fewer days. */
  entry: RequestEntry;
  isTruncated?: boolean | undefined;
  completion?: CompletionFields | undefined;
}

interface MeasuredContent {
  content: StoredContent;
  /** Of its JSON. */
  bytes: number;
}

export interface ContentPlace {
  projectId: string;
  id: string;
}

export class SealedContents {
  readonly #keyring: Keyring;
  readonly #logger: Logger;

  constructor(keyring: Keyring, logger: Logger) {
    this.#keyring = keyring;
    this.#logger = logger;
  }

  seal(place: ContentPlace, content: StoredContent): Buffer {
    return this.#keyring.encrypt(deflateRawSync(JSON.stringify(content), { level: 1 }), toText(place));
  }

  /** Throws a Fault when the key is missing or the row was altered, and logs the cause. */
  open(place: ContentPlace, sealed: Buffer): StoredContent {
    return this.#open(place, sealed).content;
  }

  /** Undefined: the key is missing, or the row was altered. */
  tryOpen(place: ContentPlace, sealed: Buffer): StoredContent | undefined {
    return this.tryMeasure(place, sealed)?.content;
  }

  /** Like `tryOpen`, with the bytes of the content's JSON, of which compressed ones say little. */
  tryMeasure(place: ContentPlace, sealed: Buffer): MeasuredContent | undefined {
    try {
      return this.#open(place, sealed);
    } catch (failure) {
      if (failure instanceof Fault) return undefined;
      throw failure;
    }
  }

  #open(place: ContentPlace, sealed: Buffer): MeasuredContent {
    try {
      const json = inflateRawSync(this.#keyring.decryptBytes(sealed, toText(place)));
      return { content: JSON.parse(json.toString("utf8")) as StoredContent, bytes: json.length };
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      this.#logger.error({ error: error.message }, "recorded content cannot be decrypted");
      const message = `The recorded content of \`${place.id}\` cannot be decrypted with the keys of this service.`;
      throw new Fault("not-found", message, { cause: error });
    }
  }
}

function toText({ projectId, id }: ContentPlace): string {
  return `content ${projectId} ${id}`;
}
