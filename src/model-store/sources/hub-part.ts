/** A resumable download from the hub: the bytes so far, and the file that they belong to. */

import { readFile, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { sizeOf } from "../model-record.ts";

const noteSchema = lazy.object(() => ({
  url: z.string(),
  /** ETag of the response with the bytes. */
  etag: z.string().optional(),
  /** The hub's SHA-256 of the complete file. */
  sha256: z.string().optional(),
}));

export type PartNote = z.infer<typeof noteSchema>;

export class HubPart {
  readonly path: string;
  readonly #url: string;

  constructor(path: string, url: string) {
    this.path = path;
    this.#url = url;
  }

  /** Reads the part to resume from; undefined without one, or if its origin is unknown. */
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

  /** Call before the first byte is written: a part without a note is never resumed. */
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
