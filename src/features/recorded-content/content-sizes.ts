/** Bytes that each project stores; the oldest content of a project beyond its limit is removed. */

import { HOUR_MS } from "../../kernel/durations.ts";
import type { Database } from "../../storage/database.ts";
import { type NewContent, removeContents, sumContents } from "./recorded-content-queries.ts";

export interface ContentSizesOptions {
  database: Database;
  /** Maximum bytes of a project. */
  maxBytesOf: (projectId: string) => Promise<number>;
}

/** Other replicas write too, and retention removes. */
const MEASURED_FOR_MS = HOUR_MS;
const REMOVED_AT_ONCE = 200;
/** Part of the maximum that remains, so that it is rarely necessary to remove. */
const REMAINING = 0.95;

interface Size {
  bytes: number;
  maxBytes: number;
  measuredAt: number;
}

export class ContentSizes {
  readonly #options: ContentSizesOptions;
  readonly #sizes = new Map<string, Size>();

  constructor(options: ContentSizesOptions) {
    this.#options = options;
  }

  /** Counts rows that were written. */
  async add(rows: readonly NewContent[]): Promise<void> {
    for (const [projectId, ofProject] of Map.groupBy(rows, (row) => row.projectId)) {
      const size = await this.#measured(
        projectId,
        ofProject.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      if (size.bytes > size.maxBytes) await this.#trim(projectId, size);
    }
  }

  /** Measures a project again, whose limit has changed. */
  forget(projectId: string): void {
    this.#sizes.delete(projectId);
  }

  async #measured(projectId: string, added: number): Promise<Size> {
    const cached = this.#sizes.get(projectId);
    if (cached !== undefined && performance.now() - cached.measuredAt < MEASURED_FOR_MS) {
      cached.bytes += added;
      return cached;
    }
    const { database, maxBytesOf } = this.#options;
    const bytes = await database.run((executor) => sumContents(executor, projectId));
    const size = { bytes, maxBytes: await maxBytesOf(projectId), measuredAt: performance.now() };
    this.#sizes.set(projectId, size);
    return size;
  }

  async #trim(projectId: string, size: Size): Promise<void> {
    const { database } = this.#options;
    while (size.bytes > REMAINING * size.maxBytes) {
      const excess = size.bytes - REMAINING * size.maxBytes;
      const { count, bytes } = await database.transaction((executor) =>
        removeContents(executor, database.kind, { projectId }, REMOVED_AT_ONCE, excess),
      );
      size.bytes -= bytes;
      if (count === 0) return;
    }
  }
}
