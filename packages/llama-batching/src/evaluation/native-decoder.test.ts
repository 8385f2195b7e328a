/** The private parts of the installed binding do what NativeDecoder uses them for. */

import type { LlamaContext, LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";
import { afterAll, beforeAll, expect } from "vitest";
import { oncePerState } from "../../../../test/support/unchanged/once-per-state.ts";
import { loadChatModel } from "../../test/load-chat-model.ts";
import type { SamplerOptions } from "../sampling/sampler.ts";
import { NativeDecoder, type Padding } from "./native-decoder.ts";

const test = oncePerState(import.meta.filename);

const GREEDY: SamplerOptions = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 };
let model: LlamaModel;
let context: LlamaContext;
let sequences: [LlamaContextSequence, LlamaContextSequence];
let decoder: NativeDecoder;
beforeAll(async () => {
  model = await loadChatModel();
  context = await model.createContext({ sequences: 2, contextSize: 512, threads: 1 });
  sequences = [context.getSequence(), context.getSequence()];
  decoder = new NativeDecoder(model, context);
});
afterAll(() => model?.dispose());

const sample = (sequence: LlamaContextSequence, text: string, config = GREEDY) => {
  const sampler = decoder.createSampler(config);
  return decoder.evaluateAndSample(sequence, model.tokenize(text), (index) => decoder.sample(index, sampler));
};

test("samples the same tokens as the public API", async () => {
  const [own, theirs] = sequences;
  await Promise.all(sequences.map((sequence) => sequence.clearHistory()));
  const config = { temperature: 1, topK: 256, topP: 1, minP: 0, seed: 7 };
  const sampler = decoder.createSampler(config);
  const sampled: number[] = [];
  for (let tokens = model.tokenize("Once upon a time"); sampled.length < 12; ) {
    const token = await decoder.evaluateAndSample(own, tokens, (index) => decoder.sample(index, sampler));
    sampled.push(token);
    tokens = [token];
  }
  const expected: number[] = [];
  for await (const token of theirs.evaluate(model.tokenize("Once upon a time"), { ...config, yieldEogToken: true })) {
    if (expected.push(token) === 12) break;
  }
  expect(sampled).toEqual(expected);
});

/**
 * Difference between the log probabilities of a token in batches of different sizes: quantized weights round by up to
 * 0.2, and a token that is lost or misplaced shifts them by several.
 */
const MAX_ROUNDING = 0.5;

/** Log probabilities of the eight most likely tokens after `tokens`, or of those in `asked`. */
async function logprobsAfter(
  decoding: NativeDecoder,
  sequence: LlamaContextSequence,
  tokens: readonly Token[],
  asked?: readonly Token[],
): Promise<Map<Token, number>> {
  const readers = {
    flat: decoding.createSampler(GREEDY),
    best: decoding.createSampler({ ...GREEDY, temperature: 1, topK: 8 }),
  };
  return await decoding.evaluateAndSample(sequence, tokens, async (index) => {
    const { top } = await decoding.readLogits(index, tokens[0] as Token, 8, readers);
    const highest = top[0]?.[1] ?? Number.NaN;
    const logprobs = new Map<Token, number>();
    for (const token of asked ?? top.map(([each]) => each)) {
      const { logit, weight } = await decoding.readLogits(index, token, 8, readers);
      logprobs.set(token, logit - highest - Math.log(weight));
    }
    return logprobs;
  });
}

function expectAlike(actual: ReadonlyMap<Token, number>, reference: ReadonlyMap<Token, number>): void {
  expect([...actual.keys()]).toEqual([...reference.keys()]);
  const differences = [...reference].map(([token, logprob]) => Math.abs(logprob - (actual.get(token) ?? Number.NaN)));
  expect(Math.max(...differences)).toBeLessThan(MAX_ROUNDING);
}

test("splits what exceeds a batch", async () => {
  const texts = [
    "Count with me: one, two, three, four, five, six, seven, eight,",
    "The capital of France is Paris. The capital of Spain is Madrid. The capital of Italy is",
  ];
  const prompts = texts.map((text) => model.tokenize(text));
  for (const { length } of prompts) expect(length).toBeGreaterThan(16);
  await Promise.all(sequences.map((sequence) => sequence.clearHistory()));
  const unsplit: Map<Token, number>[] = [];
  for (const [index, tokens] of prompts.entries()) {
    unsplit.push(await logprobsAfter(decoder, sequences[index] as LlamaContextSequence, tokens));
  }
  const small = await model.createContext({ sequences: 2, contextSize: 512, batchSize: 16, threads: 1 });
  const decoding = new NativeDecoder(model, small);
  const split = await Promise.all(
    prompts.map(async (tokens, index) => {
      const sequence = small.getSequence();
      const logprobs = await logprobsAfter(decoding, sequence, tokens, [...(unsplit[index]?.keys() ?? [])]);
      expect(sequence.contextTokens).toEqual(tokens);
      return logprobs;
    }),
  );
  await small.dispose();
  for (const [index, logprobs] of split.entries()) expectAlike(logprobs, unsplit[index] ?? new Map());
});

test("copies the state of a sequence up to a token", async () => {
  const [from, to] = sequences;
  await Promise.all(sequences.map((sequence) => sequence.clearHistory()));
  await sample(to, "Something else entirely");
  const tokens = model.tokenize("The capital of France is Paris. The capital of Italy is");
  const evaluated = await logprobsAfter(decoder, from, tokens);
  expect(await decoder.copyState(from, to, tokens.length - 1)).toBe(true);
  expect(to.nextTokenIndex).toBe(tokens.length - 1);
  expectAlike(await logprobsAfter(decoder, to, tokens.slice(-1), [...evaluated.keys()]), evaluated);
});

test("evaluates a token beyond 256 with a padding token as beside another sequence", async () => {
  // Keys are split among threads from 257 cached tokens on.
  const apart = await model.createContext({ sequences: 2, contextSize: 512, threads: 2, flashAttention: true });
  const [sequence, other] = [apart.getSequence(), apart.getSequence()];
  const decoding = new NativeDecoder(model, apart);
  const tokens = model.tokenize("Dragons eat granite on Mondays, and chalk on Fridays. ".repeat(30)).slice(0, 300);
  // Two threads are slow beside other processes, so only the token that depends on their number has two.
  decoding.setThreads(1);
  await decoding.evaluate(sequence, tokens.slice(0, 299));
  const readers = {
    flat: decoding.createSampler(GREEDY),
    best: decoding.createSampler({ ...GREEDY, temperature: 1, topK: 8 }),
  };
  const read = (padding: Padding) =>
    decoding.evaluateAndSample(
      sequence,
      tokens.slice(299),
      (index) => decoding.readLogits(index, tokens[0] as Token, 8, readers),
      padding,
    );
  const [beside] = await Promise.all([read("none"), decoding.evaluate(other, tokens.slice(0, 1))]);
  await sequence.eraseContextTokenRanges([{ start: 299, end: 300 }]);
  decoding.setThreads(2);
  const withPadding = await read("token");
  expect(sequence.nextTokenIndex).toBe(300);
  await apart.dispose();
  expect(withPadding).toEqual(beside);
});

test("reads the logits of the entire vocabulary", async () => {
  const [sequence] = sequences;
  await sequence.clearHistory();
  const sampler = decoder.createSampler({ ...GREEDY, temperature: 2, topK: 1 });
  const readers = {
    flat: decoder.createSampler(GREEDY),
    best: decoder.createSampler({ ...GREEDY, temperature: 1, topK: 3 }),
  };
  const { token, logits } = await decoder.evaluateAndSample(
    sequence,
    model.tokenize("The capital of France is"),
    async (index) => {
      const token = await decoder.sample(index, sampler);
      return { token, logits: await decoder.readLogits(index, token, 3, readers) };
    },
  );
  expect(logits.top.map(([each]) => each)[0]).toBe(token);
  expect(logits.top.map(([, logit]) => logit)).toEqual(logits.top.map(([, logit]) => logit).toSorted((a, b) => b - a));
  expect(logits.logit).toBe(logits.top[0]?.[1]);
  // The three most likely tokens weigh less than all 49,152.
  const ofThree = logits.top.reduce((sum, [, logit]) => sum + Math.exp(logit - logits.logit), 0);
  expect(logits.weight).toBeGreaterThan(ofThree + 0.001);
});

test("constrains a sampler mid-sequence, even when no likely token fits", async () => {
  const [sequence] = sequences;
  await sequence.clearHistory();
  const grammar = decoder.parseGrammar('root ::= "\u2603\u2603" [0-9]');
  const sampler = decoder.createSampler({ ...GREEDY, temperature: 2, topK: 1 });
  const state = grammar.clone();
  sampler.constrain(state, []);
  expect(state.allows(model.tokens.eos as never)).toBe(false);
  const tokens = model.tokenize("Once upon a time");
  const sampled: ReturnType<LlamaModel["tokenize"]> = [];
  for (let next = tokens; sampled.length < 20; ) {
    const token = await decoder.evaluateAndSample(sequence, next, (index) => decoder.sample(index, sampler));
    if (model.isEogToken(token)) break;
    sampled.push(token);
    next = [token];
  }
  expect(state.allows(model.tokens.eos as never)).toBe(true);
  expect(model.detokenize(sampled)).toMatch(/^\u2603\u2603[0-9]$/);
});

test("fails only the sequence whose sampling fails", async () => {
  const [sequence, other] = sequences;
  await Promise.all(sequences.map((each) => each.clearHistory()));
  const failing = decoder.evaluateAndSample(sequence, model.tokenize("Once"), async () => {
    throw new Error("sampling failed");
  });
  const [failed, sampled] = await Promise.allSettled([failing, sample(other, "The capital of Italy is")]);
  expect(failed).toMatchObject({ status: "rejected", reason: { message: "sampling failed" } });
  expect(sampled.status).toBe("fulfilled");
  await sample(sequence, " upon a");
});

test("samples no token that the grammar forbids, even when all are banned", async () => {
  const [sequence] = sequences;
  await sequence.clearHistory();
  const sampler = decoder.createSampler({
    ...GREEDY,
    tokenBiasKeys: Uint32Array.from(model.iterateAllTokens()),
    tokenBiasValues: new Float32Array(49_152).fill(Number.NEGATIVE_INFINITY),
  });
  const state = decoder.parseGrammar('root ::= "a"').clone();
  sampler.constrain(state, []);
  const drawing = decoder.evaluateAndSample(sequence, model.tokenize("Once"), async (index) => {
    const token = await decoder.sample(index, sampler);
    return { isEnd: model.isEogToken(token), mayEnd: state.allows(token) };
  });
  const outcome = await drawing.catch(() => "failed");
  // The caller checks end tokens: the binding never asks the grammar about them.
  expect(["failed", { isEnd: true, mayEnd: false }]).toContainEqual(outcome);
});

test("rejects an invalid grammar", () => {
  expect(() => decoder.parseGrammar("root ::= (")).toThrow();
  expect(() => decoder.parseGrammar("root ::= other")).toThrow();
});
