/** Answers of a running batch, which are stored some at a time so that a restart loses none and repeats few. */

import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../storage/database.ts";
import { type BlobStore, readLines } from "../files/index.ts";
import { addBatchPart, type BatchCounts, listBatchParts, type OwnedBatch } from "./batch-queries.ts";

/** Answer of one line, as it stands in a part and later in the output or error file. */
export interface StoredAnswer {
  /** Index of the line among those that are not blank. */
  index: number;
  isError: boolean;
  /** JSON text without line breaks. */
  json: string;
}

/** An answer that is not stored yet, with what it used. */
export interface NewAnswer extends StoredAnswer {
  usage?: LineUsage | undefined;
}

export type LineUsage = Omit<BatchCounts, "completed" | "failed">;

/** Bounds the lines that are sent again after the process was killed; the documentation has the number. */
export const MAX_PENDING_ANSWERS = 200;
/** An answer with embeddings may have tens of megabytes. */
const MAX_PENDING_CHARACTERS = 16 * 1024 ** 2;

export interface BatchPartsOptions {
  database: Database;
  blobs: BlobStore;
  owned: OwnedBatch;
  /** Folder for temporary files. */
  directory: string;
}

interface UnwrittenPart {
  blob: string;
  position: number;
  answers: NewAnswer[];
}

/** Folder of the blobs of a batch. */
export function partsFolder(batchId: string): string {
  return `batches/${batchId}/`;
}

export class BatchParts {
  readonly #options: BatchPartsOptions;
  #unwritten: NewAnswer[] = [];
  /** Characters of the answers that are not stored yet. */
  #pendingCharacters = 0;
  #position = 0;
  /** Part that is being written; a failed write is repeated as it was, since it may have succeeded. */
  #writing: UnwrittenPart | undefined;

  constructor(options: BatchPartsOptions) {
    this.#options = options;
  }

  /** Whether the answers that are not stored yet should be, before there are more. */
  get isFull(): boolean {
    return this.#pending >= MAX_PENDING_ANSWERS || this.#pendingCharacters >= MAX_PENDING_CHARACTERS;
  }

  /** Whether all answers are stored. */
  get isEmpty(): boolean {
    return this.#pending === 0;
  }

  add(answer: NewAnswer): void {
    this.#unwritten.push(answer);
    this.#pendingCharacters += answer.json.length;
  }

  /** Yields the stored answers, part by part. */
  async *read(): AsyncGenerator<StoredAnswer> {
    const { database, blobs, owned } = this.#options;
    for (const { blob, position } of await database.run((executor) => listBatchParts(executor, owned.id))) {
      this.#position = Math.max(this.#position, position + 1);
      for await (const { bytes } of readLines(await blobs.read(blob), Number.POSITIVE_INFINITY)) {
        if (bytes !== undefined && bytes.length > 0) yield parseStored(bytes.toString());
      }
    }
  }

  /** Stores the answers that were added. Resolves with false when another run has the batch. */
  async flush(): Promise<boolean> {
    while (this.#pending > 0) {
      if (this.#writing === undefined) {
        const blob = `${partsFolder(this.#options.owned.id)}${randomUUID()}`;
        this.#writing = { blob, position: this.#position, answers: this.#unwritten };
        this.#unwritten = [];
      }
      if (!(await this.#write(this.#writing))) return false;
      this.#position += 1;
      for (const { json } of this.#writing.answers) this.#pendingCharacters -= json.length;
      this.#writing = undefined;
    }
    return true;
  }

  get #pending(): number {
    return this.#unwritten.length + (this.#writing?.answers.length ?? 0);
  }

  async #write({ blob, position, answers }: UnwrittenPart): Promise<boolean> {
    const { database, blobs, owned, directory } = this.#options;
    const path = join(directory, "part");
    // One by one: a text of all may be longer than texts can be.
    await writeFile(path, answers.values().map(toStored), { mode: 0o600 });
    await blobs.putFile(blob, path);
    await rm(path, { force: true });
    const failed = answers.filter(({ isError }) => isError).length;
    return database.transaction(async (executor) => {
      const stored = await listBatchParts(executor, owned.id);
      if (stored.some((part) => part.blob === blob)) return true;
      const sum = (name: keyof LineUsage) => answers.reduce((total, { usage }) => total + (usage?.[name] ?? 0), 0);
      const counts: BatchCounts = {
        completed: answers.length - failed,
        failed,
        promptTokens: sum("promptTokens"),
        cachedTokens: sum("cachedTokens"),
        completionTokens: sum("completionTokens"),
        reasoningTokens: sum("reasoningTokens"),
      };
      return addBatchPart(executor, owned, { blob, position }, counts);
    });
  }
}

function toStored({ index, isError, json }: StoredAnswer): string {
  return `${index}\t${isError ? "error" : "output"}\t${json}\n`;
}

function parseStored(line: string): StoredAnswer {
  const [index = "", kind = ""] = line.split("\t", 2);
  return { index: Number(index), isError: kind === "error", json: line.slice(index.length + kind.length + 2) };
}
