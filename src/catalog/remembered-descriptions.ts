/** What loads have measured, in a file of the data directory: a restarted service states it before the next load. */

import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { Logger } from "../kernel/logger.ts";

/** Far more than the deployments of one configuration. */
const MAX_ENTRIES = 1000;

export class RememberedDescriptions {
  readonly #file: string;
  readonly #logger: Logger;
  /** By the fingerprint of a deployment, the oldest first. */
  readonly #entries: Map<string, ModelDescription>;
  #writing: Promise<void> = Promise.resolve();
  /** Whether a write that has not begun will include every change. */
  #isScheduled = false;

  /** A file that is missing or damaged is the same as an empty one: the next loads write it again. */
  constructor(file: string, logger: Logger) {
    this.#file = file;
    this.#logger = logger;
    this.#entries = new Map(readEntries(file));
  }

  get(identity: string): ModelDescription | undefined {
    return this.#entries.get(identity);
  }

  /** Writes the file in the background, unless nothing has changed. */
  set(identity: string, description: ModelDescription): void {
    if (JSON.stringify(this.#entries.get(identity)) === JSON.stringify(description)) return;
    this.#entries.delete(identity);
    this.#entries.set(identity, description);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  /** Resolves once the file is written. */
  written(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    this.#isScheduled = false;
    const temporary = `${this.#file}.${process.pid}.tmp`;
    try {
      await writeFile(temporary, JSON.stringify(Object.fromEntries(this.#entries)), { mode: 0o600 });
      await rename(temporary, this.#file);
    } catch (err) {
      this.#logger.warn({ err }, "cannot write what models are able to do");
    }
  }
}

function readEntries(file: string): [string, ModelDescription][] {
  try {
    return Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, ModelDescription>).filter(
      ([, value]) => typeof value?.task === "string",
    );
  } catch {
    return [];
  }
}
