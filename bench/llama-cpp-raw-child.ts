/** Baseline: node-llama-cpp's own evaluation loop, one generator per completion, without detokenization. */

import { getLlama, LlamaLogLevel } from "node-llama-cpp";

export interface RawRun {
  prompt: string;
  concurrency: number;
  tokens: number;
}

const [path = "", slots = "8", threads = "1"] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({
  sequences: Number(slots),
  contextSize: 4096,
  batchSize: 256,
  threads: Number(threads),
  // The same value that the engine uses.
  flashAttention: "auto",
});
const sequences = Array.from({ length: Number(slots) }, () => context.getSequence());

process.on("message", async ({ prompt, concurrency, tokens }: RawRun) => {
  const promptTokens = model.tokenize(prompt, true);
  for (const sequence of sequences) await sequence.clearHistory();
  const startedAt = performance.now();
  await Promise.all(
    sequences.slice(0, concurrency).map(async (sequence, seed) => {
      let count = 0;
      const options = { temperature: 1, topP: 1, topK: 256, seed, yieldEogToken: true };
      for await (const _ of sequence.evaluate(promptTokens, options)) if (++count === tokens) break;
    }),
  );
  process.send?.({ tokensPerSecond: (concurrency * tokens) / ((performance.now() - startedAt) / 1000) });
});
process.send?.("ready");
