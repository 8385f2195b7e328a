/** Speeds of chat models that were measured on this machine, in a file of the data directory. */

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { availableParallelism, cpus } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { lazy } from "../kernel/lazy.ts";

const File = lazy.object(() => ({
  /** Processors of the machine, whose change makes the speeds void. */
  machine: z.string(),
  tokensPerSecond: z.record(z.string(), z.number().positive()),
}));

export class MeasuredSpeeds {
  readonly #path: string;
  readonly #machine: string;

  constructor(dataDirectory: string, machine = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores`) {
    this.#path = join(dataDirectory, "model-speeds.json");
    this.#machine = machine;
  }

  /** Tokens per second by the model's ID; empty for another machine, or without the file. */
  async read(): Promise<Map<string, number>> {
    const text = await readFile(this.#path, "utf8").catch(() => "");
    const parsed = File.safeParse(parse(text));
    if (!parsed.success || parsed.data.machine !== this.#machine) return new Map();
    return new Map(Object.entries(parsed.data.tokensPerSecond));
  }

  async write(speeds: ReadonlyMap<string, number>): Promise<void> {
    const content = { machine: this.#machine, tokensPerSecond: Object.fromEntries(speeds) };
    const temporary = `${this.#path}.${process.pid}`;
    // The models may be in a folder of their own, and no service has started with this data directory yet.
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
    await rename(temporary, this.#path);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
