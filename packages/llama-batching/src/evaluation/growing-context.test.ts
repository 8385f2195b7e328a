import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LlamaContext, LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { oncePerState } from "../../../../test/support/unchanged/once-per-state.ts";
import { loadChatModel } from "../../test/load-chat-model.ts";
import { type ContextGrowth, GrowingContext } from "./growing-context.ts";
import { type Logits, NativeDecoder } from "./native-decoder.ts";
import { SequencePool } from "./sequence-pool.ts";
import { removeAbandonedStates } from "./state-directory.ts";

const test = oncePerState(import.meta.filename);

const OPTIONS = { sequences: 2, threads: 1, flashAttention: true };
let model: LlamaModel;
let context: LlamaContext;
let tokens: Token[];
beforeAll(async () => {
  model = await loadChatModel();
  tokens = model.tokenize("Dragons eat granite on Mondays, and chalk on Fridays. ".repeat(4));
});
beforeEach(async () => {
  await context?.dispose();
  context = await model.createContext({ ...OPTIONS, contextSize: 256 });
});
afterAll(() => model.dispose());

const create = (contextSize: number) => model.createContext({ ...OPTIONS, contextSize });

function open(options: Partial<ContextGrowth> = {}) {
  const { sequences } = new SequencePool(context);
  const growth = { window: 1024, create, estimateBytes: async (size: number) => size, availableBytes: () => 1e9 };
  const growing = new GrowingContext(context, sequences, { ...growth, ...options });
  const decoder = new NativeDecoder(model, context);
  const readers = {
    flat: decoder.createSampler({ temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 }),
    best: decoder.createSampler({ temperature: 1, topK: 8, topP: 1, minP: 0, seed: 1 }),
  };
  const next = (sequence: LlamaContextSequence | undefined): Promise<Logits> =>
    decoder.evaluateAndSample(sequence as LlamaContextSequence, tokens.slice(-1), (index) =>
      decoder.readLogits(index, tokens[0] as Token, 8, readers),
    );
  return { growing, decoder, next, first: sequences[0] as LlamaContextSequence, second: sequences[1] };
}

test("keeps what is evaluated, bit for bit, and leaves no files", async () => {
  const { growing, decoder, next, first, second } = open();
  await decoder.evaluate(first, tokens);
  const before = await next(first);
  await first.eraseContextTokenRanges([{ start: tokens.length, end: tokens.length + 1 }]);
  expect(await growing.reserve(300)).toBe(true);
  expect([growing.size, growing.window, context.contextSize]).toEqual([512, 1024, 512]);
  expect(first.contextTokens).toEqual(tokens);
  expect(second?.nextTokenIndex).toBe(0);
  expect(await next(first)).toEqual(before);
  expect(await decoder.copyState(first, second as LlamaContextSequence, tokens.length)).toBe(true);
  expect(await next(second)).toEqual(before);
  const files = await readdir("/dev/shm").catch(() => []);
  expect(files.filter((name) => name.startsWith(`parlance-context-${process.pid}-`))).toEqual([]);
});

test("takes no more than necessary where memory is short, and nothing where it is shorter", async () => {
  const { growing, decoder, next, first } = open({ availableBytes: () => 400 });
  await decoder.evaluate(first, tokens);
  expect(await growing.reserve(700)).toBe(false);
  expect(growing.size).toBe(256);
  expect((await next(first)).top).toHaveLength(8);
  // 1,024 tokens would need 768 more.
  expect(await growing.reserve(600)).toBe(false);
  expect(await growing.reserve(512)).toBe(true);
  expect(growing.size).toBe(512);
});

test("returns to its size when a larger context cannot be created", async () => {
  const failing = async (size: number) => {
    if (size > 256) throw new Error("no memory");
    return await create(size);
  };
  const { growing, decoder, next, first } = open({ create: failing });
  await decoder.evaluate(first, tokens);
  const before = await next(first);
  await first.eraseContextTokenRanges([{ start: tokens.length, end: tokens.length + 1 }]);
  expect(await growing.reserve(300)).toBe(false);
  expect(growing.size).toBe(256);
  expect(await next(first)).toEqual(before);
});

test("never grows beyond its window", async () => {
  const { growing } = open({ window: 512 });
  expect(await growing.reserve(513)).toBe(false);
  expect(await growing.reserve(400)).toBe(true);
  expect(growing.size).toBe(512);
});

test("stays as it is where states cannot be saved, and keeps them", async () => {
  const { growing, decoder, next, first } = open({ stateDirectories: ["/nowhere", "/proc"] });
  expect(await growing.reserve(300)).toBe(true);
  await decoder.evaluate(first, tokens);
  expect(await growing.reserve(600)).toBe(false);
  expect(growing.size).toBe(512);
  expect((await next(first)).top).toHaveLength(8);
});

test("removes states of processes that have ended, and no others", async () => {
  const parent = await mkdtemp(join(tmpdir(), "states-"));
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const names = [
    `parlance-context-${pid}-abandn`,
    `parlance-context-${pid}-recent`,
    `parlance-context-${process.ppid}-active`,
  ];
  for (const [index, name] of [...names, "other"].entries()) {
    await mkdir(join(parent, name));
    await writeFile(join(parent, name, "state"), "text");
    if (index !== 1) await utimes(join(parent, name), 0, 0);
  }
  await removeAbandonedStates([parent, join(parent, "missing")]);
  expect((await readdir(parent)).toSorted()).toEqual([...names.slice(1), "other"].toSorted());
  await rm(parent, { recursive: true });
});
