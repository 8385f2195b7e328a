/** Files with the states of evaluated beginnings of prompts, encrypted. */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  randomUUID,
} from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Token } from "node-llama-cpp";
import { createStateDirectory } from "./state-directory.ts";
import { sweepStates } from "./state-files.ts";

export interface StoredStatesOptions {
  /** Created where it is missing. Several models and processes may share it. */
  directory: string;
  /** Secret of at least 32 bytes, from which the keys are derived. */
  key: Uint8Array;
  /** Bytes of all files; those that were not used for the longest time are removed first. */
  maxBytes: number;
  /** Changes with all that a state depends on: the files of the model, how it is evaluated, llama.cpp. */
  fingerprint: string;
  /** Bytes of a state for each token. */
  bytesPerToken: number;
  warn: (message: string) => void;
}

export interface StoredState {
  name: string;
  /** Tokens at the beginning of the prompt that it has, too. */
  common: number;
  /** Tokens of the state. */
  tokens: number;
}

/** States that are encrypted at a time, each in memory until then. More are not stored: the disk is slower than the model. */
const MAX_SEALING = 2;
const NAME = /^(?<model>[0-9a-f]{16})-(?<tokens>\d+)-[0-9a-f]{32}\.state$/;
/** AES-256-GCM (NIST SP 800-38D). A file has two parts, the token IDs and the state, each as nonce, ciphertext and tag. */
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHUNK_BYTES = 1 << 20;

type Part = "tokens" | "state";

export class StoredStates {
  readonly #options: StoredStatesOptions;
  readonly #model: string;
  readonly #key: Buffer;
  readonly #nameKey: Buffer;
  /** Token IDs by name. */
  readonly #known = new Map<string, Uint32Array>();
  /** States on their way to their files, by name. */
  readonly #sealing = new Map<string, Promise<void>>();
  /** Settles with the last read that has begun. */
  #reading: Promise<void> = Promise.resolve();

  constructor(options: StoredStatesOptions) {
    const derive = (purpose: string) =>
      Buffer.from(hkdfSync("sha256", options.key, "", `prompt cache ${purpose} 1`, 32));
    this.#options = options;
    this.#model = createHash("sha256").update(options.fingerprint).digest("hex").slice(0, 16);
    this.#key = derive("content");
    this.#nameKey = derive("names");
  }

  /** The state that shares the longest beginning with the prompt, of those that `isUseful`; of equals the shortest. */
  async find(prompt: readonly Token[], isUseful: (state: StoredState) => boolean): Promise<StoredState | undefined> {
    const names = await readdir(this.#options.directory).catch(() => []);
    const present = new Set(names);
    for (const name of this.#known.keys()) if (!present.has(name)) this.#known.delete(name);
    let best: StoredState | undefined;
    for (const name of names) {
      if (NAME.exec(name)?.groups?.model !== this.#model) continue;
      const tokens = this.#known.get(name) ?? (await this.#readTokens(name));
      if (tokens === undefined) continue;
      const different = tokens.findIndex((token, index) => token !== prompt[index]);
      const state = { name, common: different === -1 ? tokens.length : different, tokens: tokens.length };
      if (isUseful(state) && (best === undefined || isBetter(state, best))) best = state;
    }
    return best;
  }

  /**
   * Calls `read` with the path of the decrypted state, for that time only; one state after the other, so that they are not
   * in memory at once. Returns undefined where the file is gone or altered, where there is no room, and once `signal`
   * aborts. Throws what `read` throws.
   */
  async read<Result>(
    state: StoredState,
    signal: AbortSignal,
    read: (path: string) => Promise<Result>,
  ): Promise<Result | undefined> {
    if (signal.aborted) return undefined;
    const before = this.#reading;
    const ended = Promise.withResolvers<void>();
    this.#reading = before.then(() => ended.promise);
    const waiting = new AbortController();
    try {
      await Promise.race([before, once(signal, "abort", { signal: waiting.signal }).catch(() => {})]);
      return signal.aborted ? undefined : await this.#readAlone(state, signal, read);
    } finally {
      waiting.abort();
      ended.resolve();
    }
  }

  async #readAlone<Result>(
    { name, tokens }: StoredState,
    signal: AbortSignal,
    read: (path: string) => Promise<Result>,
  ): Promise<Result | undefined> {
    return await this.#withDirectory(tokens, async (directory) => {
      const path = join(directory, randomUUID());
      const isDecrypted = await this.#open(name, (file) => {
        const state = this.#decrypt(file, name, "state");
        return pipeline(state, createWriteStream(path, { mode: 0o600 }), { signal }).then(() => true);
      });
      if (isDecrypted !== true) return undefined;
      await this.markUsed({ name });
      return await read(path);
    });
  }

  /** Does nothing where it is gone. */
  async markUsed({ name }: Pick<StoredState, "name">): Promise<void> {
    const now = new Date();
    await utimes(join(this.#options.directory, name), now, now).catch(() => {});
  }

  /**
   * Stores the state of `beginning`, which `write` writes to the path that it gets, and resolves once that is done; it is
   * encrypted afterwards. Does nothing where the state is larger than all files may be, or too many are being encrypted.
   * Never rejects.
   */
  async store(beginning: readonly Token[], write: (path: string) => Promise<void>): Promise<void> {
    const { maxBytes, bytesPerToken, warn } = this.#options;
    const tokens = Uint32Array.from(beginning);
    const name = this.#nameOf(tokens);
    const isTooLarge = tokens.length * bytesPerToken > maxBytes;
    if (isTooLarge || this.#sealing.has(name) || this.#sealing.size >= MAX_SEALING) return;
    const written = Promise.withResolvers<void>();
    const sealing = this.#withDirectory(tokens.length, async (temporary) => {
      const path = join(temporary, randomUUID());
      await write(path);
      written.resolve();
      await this.#seal(path, name, tokens);
    })
      .catch((failure: Error) => warn(`An evaluated prompt could not be stored: ${failure.message}`))
      .then(() => {
        written.resolve();
        this.#sealing.delete(name);
      });
    this.#sealing.set(name, sealing);
    await written.promise;
  }

  /** Removes what was not used for a day, then what is too much. */
  async sweep(maxBytes: number = this.#options.maxBytes): Promise<void> {
    await sweepStates(this.#options.directory, maxBytes);
  }

  /** Resolves once all that was stored is in its file. */
  async settled(): Promise<void> {
    await Promise.all(this.#sealing.values());
  }

  /** Undefined where there is no room. */
  async #withDirectory<Result>(tokens: number, use: (path: string) => Promise<Result>): Promise<Result | undefined> {
    const directory = await createStateDirectory(tokens * this.#options.bytesPerToken);
    if (directory === undefined) return undefined;
    try {
      return await use(directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  #nameOf(tokens: Uint32Array): string {
    const hash = createHmac("sha256", this.#nameKey).update(bytesOf(tokens)).digest("hex").slice(0, 32);
    return `${this.#model}-${tokens.length}-${hash}.state`;
  }

  async #seal(path: string, name: string, tokens: Uint32Array): Promise<void> {
    const { directory, maxBytes } = this.#options;
    const { size } = await stat(path);
    if (size > maxBytes) return;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await this.sweep(maxBytes - size);
    const draft = join(directory, `${randomUUID()}.draft`);
    const state = createReadStream(path, { highWaterMark: CHUNK_BYTES });
    const parts = [this.#encrypt([bytesOf(tokens)], name, "tokens"), this.#encrypt(state, name, "state")];
    const content = async function* () {
      for (const part of parts) yield* part;
    };
    try {
      await pipeline(content, createWriteStream(draft, { mode: 0o600 }));
      await rename(draft, join(directory, name));
      this.#known.set(name, tokens);
    } finally {
      await rm(draft, { force: true });
    }
  }

  async *#encrypt(content: Iterable<Buffer> | AsyncIterable<Buffer>, name: string, part: Part): AsyncGenerator<Buffer> {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(placeOf(name, part));
    yield nonce;
    for await (const chunk of content) yield cipher.update(chunk);
    yield Buffer.concat([cipher.final(), cipher.getAuthTag()]);
  }

  async #readTokens(name: string): Promise<Uint32Array | undefined> {
    const tokens = await this.#open(name, async (file) => {
      const ids = Buffer.concat(await Array.fromAsync(this.#decrypt(file, name, "tokens")));
      return new Uint32Array(ids.buffer.slice(ids.byteOffset, ids.byteOffset + ids.length));
    });
    if (tokens !== undefined) this.#known.set(name, tokens);
    return tokens;
  }

  /** A file that does not decrypt is removed: llama.cpp reads only what this key has written. */
  async #open<Result>(name: string, read: (file: FileHandle) => Promise<Result>): Promise<Result | undefined> {
    const path = join(this.#options.directory, name);
    try {
      await using file = await open(path);
      return await read(file);
    } catch (failure) {
      const { name: kind, syscall } = failure as NodeJS.ErrnoException;
      // The caller has left, or the system has no room or no more files to open: the file may be whole.
      if (kind === "AbortError" || syscall !== undefined) return undefined;
      this.#known.delete(name);
      await rm(path, { force: true }).catch(() => {});
      return undefined;
    }
  }

  async *#decrypt(file: FileHandle, name: string, part: Part): AsyncGenerator<Buffer> {
    const tokenBytes = Uint32Array.BYTES_PER_ELEMENT * Number(NAME.exec(name)?.groups?.tokens);
    const middle = NONCE_BYTES + tokenBytes + TAG_BYTES;
    const [start, end] = part === "tokens" ? [0, middle] : [middle, (await file.stat()).size];
    const nonce = await readExactly(file, start, NONCE_BYTES);
    const tag = await readExactly(file, end - TAG_BYTES, TAG_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(placeOf(name, part)).setAuthTag(tag);
    const range = {
      start: start + NONCE_BYTES,
      end: end - TAG_BYTES - 1,
      highWaterMark: CHUNK_BYTES,
      autoClose: false,
    };
    for await (const chunk of file.createReadStream(range)) yield decipher.update(chunk);
    yield decipher.final();
  }
}

/** Whether it shares more with the prompt, or as much and is read sooner. */
function isBetter(one: StoredState, other: StoredState): boolean {
  return one.common === other.common ? one.tokens < other.tokens : one.common > other.common;
}

function bytesOf({ buffer }: Uint32Array): Buffer {
  return Buffer.from(buffer);
}

/** A file under another name does not decrypt. */
function placeOf(name: string, part: Part): Buffer {
  return Buffer.from(`${part} of ${name}`);
}

async function readExactly(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new Error("The file has been truncated");
  return buffer;
}
