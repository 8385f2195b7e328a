/** Encrypts and decrypts the segments of vector stores. */

import { DecryptionError, type Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import { encodeSegment } from "./index/segment-format.ts";
import type { VectorStoreSegmentRow } from "./vector-store-rows.ts";

interface NewSegment {
  vectorStoreId: string;
  additionId: string;
  position: number;
  texts: readonly string[];
  vectors: Float32Array;
  dimensions: number;
}

export class StoredSegments {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  seal({ vectorStoreId, additionId, position, texts, vectors, dimensions }: NewSegment): VectorStoreSegmentRow {
    const place = `${additionId} ${position}`;
    return {
      vectorStoreId,
      additionId,
      position,
      chunks: texts.length,
      vectors: this.#keyring.encrypt(encodeSegment(texts, vectors, dimensions), `vectors ${place}`),
      texts: this.#keyring.encrypt(JSON.stringify(texts), `texts ${place}`),
    };
  }

  /** Bytes for the index. Throws a Fault when no key decrypts them. */
  openVectors(additionId: string, { position, vectors }: Pick<VectorStoreSegmentRow, "position" | "vectors">) {
    const opened = this.#open(vectors, `vectors ${additionId} ${position}`);
    // The index takes over the buffer, which must not be one that others share.
    return new Uint8Array(opened);
  }

  /** Throws a Fault when no key decrypts them. */
  openTexts(additionId: string, { position, texts }: Pick<VectorStoreSegmentRow, "position" | "texts">): string[] {
    return JSON.parse(this.#open(texts, `texts ${additionId} ${position}`).toString("utf8")) as string[];
  }

  #open(sealed: Buffer, place: string): Buffer {
    try {
      return this.#keyring.decryptBytes(sealed, place);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      const message = "Content of this vector store cannot be decrypted with the keys of this service.";
      throw new Fault("not-found", message, { cause: error });
    }
  }
}
