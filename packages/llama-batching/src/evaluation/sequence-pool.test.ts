import type { LlamaContext, LlamaModel, Token } from "node-llama-cpp";
import { afterAll, beforeEach, expect, test } from "vitest";
import { loadChatModel } from "../../test/load-chat-model.ts";
import { type AcquiredSequence, SequencePool } from "./sequence-pool.ts";

const model: LlamaModel = await loadChatModel();
let context: LlamaContext;
let pool: SequencePool;
beforeEach(async () => {
  await context?.dispose();
  context = await model.createContext({ sequences: 6, contextSize: 256, threads: 1 });
  pool = new SequencePool(context);
});
afterAll(() => model.dispose());

const prompt = (text: string): Token[] => model.tokenize(text);

function acquire(text = "Hello"): AcquiredSequence {
  const acquired = pool.tryAcquire(prompt(text), "any");
  if (acquired === undefined) throw new Error("no sequence is free");
  return acquired;
}

test("gives concurrent requests consecutive sequences, whatever was released before", () => {
  const all = Array.from({ length: 6 }, () => acquire());
  for (const id of [4, 0, 5, 2, 3, 1]) pool.release((all[id] as AcquiredSequence).sequence, 0);
  const ids = Array.from({ length: 3 }, () => acquire().id);
  // The least recently used one first, then its neighbors.
  expect(ids[0]).toBe(4);
  expect(ids.toSorted()).toEqual([3, 4, 5]);
});

test("prefers a sequence that holds the prompt's prefix to a neighbor", async () => {
  const [first, second, third] = [acquire(), acquire(), acquire()];
  const text = "The dragon ate another rock";
  await third.sequence.evaluateWithoutGeneratingNewTokens(prompt(text));
  for (const { sequence } of [second, third]) pool.release(sequence, 0);
  expect(first.id).toBe(0);
  expect(acquire(`${text} and slept.`)).toMatchObject({ id: third.id, reusedTokens: prompt(text).length });
  expect(acquire("Good morning").id).toBe(second.id);
});

test("leaves a long conversation to a prompt that continues it, not to one that begins alike", async () => {
  const [begin, conversation] = ["The dragon", `The dragon ${"ate another rock and slept, then".repeat(20)}`];
  const { id, sequence } = acquire();
  await sequence.evaluateWithoutGeneratingNewTokens(prompt(conversation));
  pool.release(sequence, 0);
  const other = acquire(`${begin} flew.`);
  expect(other.id).not.toBe(id);
  expect(acquire(`${conversation} woke.`)).toMatchObject({ id, reusedTokens: prompt(conversation).length });
});
