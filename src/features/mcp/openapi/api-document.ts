/** The OpenAPI document of a server: fetched or read from a file, and remembered while it stays the same. */

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import type { Dispatcher } from "undici";
import type { Logger } from "../../../kernel/logger.ts";
import { parseUrl } from "../../../kernel/outgoing/outgoing-guard.ts";
import { readWithin } from "../../../kernel/outgoing/read-within.ts";
import { request } from "../../../kernel/outgoing/undici.ts";
import { afterThreadCpu } from "../../../kernel/process/thread-timeout.ts";
import { VERSION } from "../../../kernel/version.ts";
import type { ApiDescription } from "./api-description.ts";
import type { DocumentAnswer } from "./document-worker.ts";

export interface ApiDocumentOptions {
  server: string;
  /** URL or path of the document. */
  location: string;
  /** Address of the API; undefined: the document's first server. */
  url: string | undefined;
  /** The operator's, which a document at the origin of the API is fetched with. */
  headers: Readonly<Record<string, string>>;
  dispatcher: Dispatcher;
  logger: Logger;
}

export interface Api extends ApiDescription {
  base: URL;
}

const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** Time for which the document is not fetched again. */
const FRESH_MS = 60_000;
const FAILED_MS = 3_000;
const FETCH_MS = 15_000;
/** CPU time after which a thread that reads a hostile document is ended. */
const READ_MS = 30_000;
const MAX_HEAP_MB = 512;
/** Limit for all servers together: each thread may take the memory above. */
const readings = pLimit(4);

export class ApiDocument {
  readonly #options: ApiDocumentOptions;
  #reading: { api: Promise<Api>; until: number } | undefined;
  #last: { digest: string; api: Api } | undefined;

  constructor(options: ApiDocumentOptions) {
    this.#options = options;
  }

  /** All calls share one reading. Rejects with an Error that says what is wrong with the document. */
  read(): Promise<Api> {
    if (this.#reading !== undefined && Date.now() < this.#reading.until) return this.#reading.api;
    const api = this.#read();
    const reading = { api, until: Number.POSITIVE_INFINITY };
    this.#reading = reading;
    api.then(
      () => {
        reading.until = Date.now() + FRESH_MS;
      },
      () => {
        reading.until = Date.now() + FAILED_MS;
      },
    );
    return api;
  }

  async #read(): Promise<Api> {
    const bytes = await this.#load();
    const digest = createHash("sha256").update(bytes).digest("hex");
    if (this.#last?.digest === digest) return this.#last.api;
    const description = await readings(() => readInThread(bytes));
    const api = { ...description, base: this.#baseOf(description) };
    const { server, logger } = this.#options;
    const { leftOut, operations } = api;
    const counts = { mcpServer: server, operations: operations.length, leftOut };
    if (leftOut.length > 0) logger.warn(counts, "operations of an OpenAPI document cannot be called");
    this.#last = { digest, api };
    return api;
  }

  async #load(): Promise<Buffer> {
    const { location } = this.#options;
    return isUrl(location) ? this.#fetch(location) : readFileWithin(location);
  }

  async #fetch(location: string): Promise<Buffer> {
    const { url, headers, dispatcher } = this.#options;
    const address = parseUrl(location);
    // The operator's key is for the API.
    const isApi = url === undefined || new URL(url).origin === address.origin;
    const { statusCode, body } = await request(address, {
      dispatcher,
      signal: AbortSignal.timeout(FETCH_MS),
      headers: {
        "user-agent": `Parlance/${VERSION}`,
        accept: "application/json, application/yaml;q=0.9, */*;q=0.5",
        "accept-encoding": "identity",
        ...(isApi && headers),
      },
    });
    if (statusCode === 200) return readWithin(body, MAX_DOCUMENT_BYTES, () => tooLarge());
    await body.dump({ limit: 65_536 }).catch(() => {});
    throw new Error(`Its document was answered with the status ${statusCode}.`);
  }

  #baseOf({ server }: ApiDescription): URL {
    const { location, url } = this.#options;
    if (url !== undefined) return new URL(url);
    const document = isUrl(location) ? location : undefined;
    const base = URL.parse(server ?? "/", document);
    const isPlain = base !== null && /^https?:$/.test(base.protocol) && base.username === "" && base.password === "";
    if (!isPlain) throw unusable("it names no address of the API: set `url`");
    // Whoever writes the document would choose who gets the operator's key.
    if (document !== undefined && base.origin !== new URL(document).origin) {
      throw unusable(`it names the address ${base.origin}, which is not where it came from: set \`url\``);
    }
    base.hash = "";
    return base;
  }
}

function isUrl(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

async function readFileWithin(path: string): Promise<Buffer> {
  try {
    const stats = await stat(path);
    // Opening a named pipe would wait for its writer.
    if (!stats.isFile()) throw unusable("its path is not that of a file");
    if (stats.size > MAX_DOCUMENT_BYTES) throw tooLarge();
    return await readFile(path);
  } catch (failure) {
    const { code } = failure as { code?: string };
    if (code === undefined) throw failure;
    throw new Error(`Its document cannot be read from the file (${code}).`);
  }
}

function readInThread(bytes: Buffer): Promise<ApiDescription> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiDescription>();
  const worker = new Worker(new URL(`./document-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: new Uint8Array(bytes),
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const timeout = afterThreadCpu(worker, READ_MS, () => {
    reject(unusable(`reading it takes more than ${READ_MS / 1000} s of CPU time`));
  });
  worker.unref();
  worker.once("message", (answer: DocumentAnswer) => {
    if ("problem" in answer) reject(unusable(answer.problem));
    else resolve(answer.description);
  });
  worker.once("error", () => reject(unusable("reading it takes too much memory, or fails")));
  worker.once("exit", () => reject(unusable("the thread that reads it has ended")));
  return promise.finally(() => {
    timeout[Symbol.dispose]();
    void worker.terminate();
  });
}

function tooLarge(): Error {
  return unusable(`it has more than ${MAX_DOCUMENT_BYTES / 2 ** 20} MiB, the limit`);
}

function unusable(reason: string): Error {
  return new Error(`Its document cannot be used: ${reason}.`);
}
