/** A download from the hub that may be continued: the bytes so far, and what they are a part of. */

import { readFile, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { sizeOf } from "./model-record.ts";

const noteSchema = z.object({
  url: z.string(),
  /** ETag of the answer that gave the bytes. */
  etag: z.string().optional(),
  /** The hub's SHA-256 of the whole file. */
  sha256: z.string().optional(),
});

export type PartNote = z.infer<typeof noteSchema>;

export class HubPart {
  readonly path: string;
  readonly #url: string;

  constructor(path: string, url: string) {
    this.path = path;
    this.#url = url;
  }

  /** What can be continued from: undefined when there is nothing, or nobody knows of what. */
  async read(): Promise<{ bytes: number; note: PartNote } | undefined> {
    const bytes = (await sizeOf(this.path)) ?? 0;
    if (bytes === 0) return undefined;
    try {
      const note = noteSchema.parse(JSON.parse(await readFile(this.#notePath, "utf8")));
      return note.url === this.#url && (note.etag ?? note.sha256) !== undefined ? { bytes, note } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Called before the first byte is written: bytes without a note are never continued. */
  async begin(note: Omit<PartNote, "url">): Promise<void> {
    await rm(this.path, { force: true });
    await writeFile(this.#notePath, JSON.stringify({ url: this.#url, ...note }));
  }

  async discard(): Promise<void> {
    await rm(this.path, { force: true });
    await rm(this.#notePath, { force: true });
  }

  get #notePath(): string {
    return `${this.path}.note.json`;
  }
}
