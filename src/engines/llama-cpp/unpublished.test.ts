/** What is used of the binding's insides does what it is used for, in the version that is installed. */

import { getLlama, type LlamaContext, type LlamaContextSequence, LlamaLogLevel, type LlamaModel } from "node-llama-cpp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultChatModelPath } from "../../../test/support/default-model.ts";
import { Decoder, type SamplerConfig } from "./unpublished.ts";

const GREEDY: SamplerConfig = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 1 };
let model: LlamaModel;
let context: LlamaContext;
let sequences: [LlamaContextSequence, LlamaContextSequence];
let decoder: Decoder;
beforeAll(async () => {
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: LlamaLogLevel.error });
  model = await llama.loadModel({ modelPath: await defaultChatModelPath() });
  context = await model.createContext({ sequences: 2, contextSize: 512, threads: 1 });
  sequences = [context.getSequence(), context.getSequence()];
  decoder = new Decoder(model, context);
});
afterAll(() => model?.dispose());

const draw = (sequence: LlamaContextSequence, text: string, config = GREEDY) => {
  const sampler = decoder.makeSampler(config);
  return decoder.evaluateAndDraw(sequence, model.tokenize(text), (index) => decoder.draw(index, sampler));
};

test("draws what the binding itself draws", async () => {
  const [own, theirs] = sequences;
  await Promise.all(sequences.map((sequence) => sequence.clearHistory()));
  const config = { temperature: 1, topK: 256, topP: 1, minP: 0, seed: 7 };
  const sampler = decoder.makeSampler(config);
  const drawn: number[] = [];
  for (let tokens = model.tokenize("Once upon a time"); drawn.length < 12; ) {
    const token = await decoder.evaluateAndDraw(own, tokens, (index) => decoder.draw(index, sampler));
    drawn.push(token);
    tokens = [token];
  }
  const expected: number[] = [];
  for await (const token of theirs.evaluate(model.tokenize("Once upon a time"), { ...config, yieldEogToken: true })) {
    if (expected.push(token) === 12) break;
  }
  expect(drawn).toEqual(expected);
});

test("copies what a sequence holds, up to a token", async () => {
  const [from, to] = sequences;
  await Promise.all(sequences.map((sequence) => sequence.clearHistory()));
  await draw(to, "Something else entirely");
  const tokens = model.tokenize("The capital of France is Paris. The capital of Italy is");
  await decoder.evaluate(from, tokens);
  expect(await decoder.copyState(from, to, tokens.length - 1)).toBe(true);
  expect(to.nextTokenIndex).toBe(tokens.length - 1);
  const sampler = decoder.makeSampler(GREEDY);
  const token = await decoder.evaluateAndDraw(to, tokens.slice(-1), (index) => decoder.draw(index, sampler));
  expect(model.detokenize([token])).toBe(" Rome");
});

test("reads the logits of the whole vocabulary", async () => {
  const [sequence] = sequences;
  await sequence.clearHistory();
  const sampler = decoder.makeSampler({ ...GREEDY, temperature: 2, topK: 1 });
  const readers = {
    flat: decoder.makeSampler(GREEDY),
    best: decoder.makeSampler({ ...GREEDY, temperature: 1, topK: 3 }),
  };
  const { token, logits } = await decoder.evaluateAndDraw(
    sequence,
    model.tokenize("The capital of France is"),
    async (index) => {
      const token = await decoder.draw(index, sampler);
      return { token, logits: await decoder.readLogits(index, token, 3, readers) };
    },
  );
  expect(logits.top.map(([each]) => each)[0]).toBe(token);
  expect(logits.top.map(([, logit]) => logit)).toEqual(logits.top.map(([, logit]) => logit).toSorted((a, b) => b - a));
  expect(logits.logit).toBe(logits.top[0]?.[1]);
  // What the three likeliest alone would give is less than what all 49,152 give.
  const ofThree = logits.top.reduce((sum, [, logit]) => sum + Math.exp(logit - logits.logit), 0);
  expect(logits.weight).toBeGreaterThan(ofThree + 0.001);
});

test("holds a sampler to a grammar from when it is told on, even where nothing likely fits", async () => {
  const [sequence] = sequences;
  await sequence.clearHistory();
  const grammar = decoder.readGrammar('root ::= "\u2603\u2603" [0-9]');
  const sampler = decoder.makeSampler({ ...GREEDY, temperature: 2, topK: 1 });
  const state = grammar.clone();
  sampler.constrain(state, []);
  expect(state.allows(model.tokens.eos as never)).toBe(false);
  const tokens = model.tokenize("Once upon a time");
  const drawn: ReturnType<LlamaModel["tokenize"]> = [];
  for (let next = tokens; drawn.length < 20; ) {
    const token = await decoder.evaluateAndDraw(sequence, next, (index) => decoder.draw(index, sampler));
    if (model.isEogToken(token)) break;
    drawn.push(token);
    next = [token];
  }
  expect(state.allows(model.tokens.eos as never)).toBe(true);
  expect(model.detokenize(drawn)).toMatch(/^\u2603\u2603[0-9]$/);
});

test("ends nothing but the one draw that fails", async () => {
  const [sequence, other] = sequences;
  await Promise.all(sequences.map((each) => each.clearHistory()));
  const failing = decoder.evaluateAndDraw(sequence, model.tokenize("Once"), async () => {
    throw new Error("no draw");
  });
  const [failed, drawn] = await Promise.allSettled([failing, draw(other, "The capital of Italy is")]);
  expect(failed).toMatchObject({ status: "rejected", reason: { message: "no draw" } });
  expect(drawn.status).toBe("fulfilled");
  await draw(sequence, " upon a");
});

test("draws nothing that the grammar does not allow, even where no token can be drawn", async () => {
  const [sequence] = sequences;
  await sequence.clearHistory();
  const sampler = decoder.makeSampler({
    ...GREEDY,
    tokenBiasKeys: Uint32Array.from(model.iterateAllTokens()),
    tokenBiasValues: new Float32Array(49_152).fill(Number.NEGATIVE_INFINITY),
  });
  const state = decoder.readGrammar('root ::= "a"').clone();
  sampler.constrain(state, []);
  const drawing = decoder.evaluateAndDraw(sequence, model.tokenize("Once"), async (index) => {
    const token = await decoder.draw(index, sampler);
    return { isEnd: model.isEogToken(token), mayEnd: state.allows(token) };
  });
  const outcome = await drawing.catch(() => "failed");
  // An end token is for the caller to check, since the binding never asks the grammar about one.
  expect(["failed", { isEnd: true, mayEnd: false }]).toContainEqual(outcome);
});

test("refuses what is no grammar", () => {
  expect(() => decoder.readGrammar("root ::= (")).toThrow();
  expect(() => decoder.readGrammar("root ::= other")).toThrow();
});
