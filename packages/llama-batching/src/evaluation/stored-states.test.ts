import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Token } from "node-llama-cpp";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StoredStates } from "./stored-states.ts";

const DAY_MS = 24 * 60 * 60_000;
const BYTES_PER_TOKEN = 10;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "stored-states-"));
});
afterEach(() => rm(directory, { recursive: true }));

const statesOf = (maxBytes = 1e6) =>
  new StoredStates({
    ...{ directory, key: Buffer.alloc(32, 1), maxBytes, fingerprint: "model", bytesPerToken: BYTES_PER_TOKEN },
    warn: (message) => {
      throw new Error(message);
    },
  });
const tokensFrom = (first: number, length = 20) => Array.from({ length }, (_, index) => (first + index) as Token);
const write = (path: string) => writeFile(path, "state");
const any = () => true;
const staying = new AbortController().signal;

/** Stores each and returns how many were written. */
async function countWrites(states: StoredStates, beginnings: readonly Token[][]): Promise<number> {
  let written = 0;
  const stored = beginnings.map((tokens) =>
    states.store(tokens, async (path) => {
      written += 1;
      await write(path);
    }),
  );
  await Promise.all(stored);
  await states.settled();
  return written;
}

test("a state that two slots have evaluated is written once", async () => {
  expect(await countWrites(statesOf(), [tokensFrom(1), tokensFrom(1)])).toBe(1);
});

test("a state that would not be kept is not written", async () => {
  expect(await countWrites(statesOf(BYTES_PER_TOKEN * 20 - 1), [tokensFrom(1)])).toBe(0);
});

test("states that come faster than they are encrypted are not written, and do not fill the memory", async () => {
  const states = statesOf();
  const many = Array.from({ length: 20 }, (_, index) => tokensFrom(index));
  expect(await countWrites(states, many)).toBe(2);
  expect(await readdir(directory)).toHaveLength(2);
  expect(await countWrites(states, [tokensFrom(100)])).toBe(1);
});

test("of states that share as much with a prompt, the shortest is read", async () => {
  const states = statesOf();
  for (const length of [300, 30, 200]) await states.store(tokensFrom(1, length), write).then(() => states.settled());
  const prompt = [...tokensFrom(1, 25), ...tokensFrom(500)];
  expect(await states.find(prompt, any)).toMatchObject({ common: 25, tokens: 30 });
  expect(await states.find(prompt, ({ tokens }) => tokens > 30)).toMatchObject({ common: 25, tokens: 200 });
});

test("states are read one after the other, and a caller that leaves does not wait for the others", async () => {
  const states = statesOf();
  await states.store(tokensFrom(1), write);
  await states.settled();
  const match = await states.find(tokensFrom(1), any);
  if (match === undefined) throw new Error("not found");
  const first = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let reading = 0;
  let most = 0;
  const read = async (path: string) => {
    most = Math.max(most, ++reading);
    begun.resolve();
    await first.promise;
    reading -= 1;
    return await readFile(path, "utf8");
  };
  const others = [states.read(match, staying, read), states.read(match, staying, read)];
  await begun.promise;
  const leaving = new AbortController();
  const aborted = [states.read(match, leaving.signal, read), states.read(match, AbortSignal.abort(), read)];
  leaving.abort();
  expect(await Promise.all(aborted)).toEqual([undefined, undefined]);
  first.resolve();
  expect(await Promise.all(others)).toEqual(["state", "state"]);
  expect(most).toBe(1);
});

test("a caller that leaves while a state is decrypted costs no file", async () => {
  const states = statesOf(1e9);
  await states.store(tokensFrom(1), (path) => writeFile(path, Buffer.alloc(50 << 20)));
  await states.settled();
  const match = await states.find(tokensFrom(1), any);
  const leaving = new AbortController();
  const read = match && states.read(match, leaving.signal, async () => "read");
  setImmediate(() => leaving.abort());
  expect(await read).toBeUndefined();
  expect(await readdir(directory)).toEqual([match?.name]);
});

test("a file from the future is removed as one of the past", async () => {
  const states = statesOf();
  await states.store(tokensFrom(1), write);
  await states.settled();
  const [name = ""] = await readdir(directory);
  const use = (ms: number) => utimes(join(directory, name), new Date(), new Date(Date.now() + ms));
  await use(DAY_MS / 2);
  await states.sweep();
  expect((await stat(join(directory, name))).size).toBeGreaterThan(0);
  await use(30 * DAY_MS);
  await states.sweep();
  expect(await readdir(directory)).toEqual([]);
});
