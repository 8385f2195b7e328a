/** Prints the tokens per second that the GGUF model of the first argument generates after the first token. */

import { BatchedChatModel } from "@parlance-inference/llama-batching/batched-chat-model";
import { loadModel } from "@parlance-inference/llama-batching/load-model";
import { DEFAULT_CHAT_REQUEST } from "../contracts/default-chat-request.ts";
import { lowerPriority } from "../kernel/process/lower-priority.ts";

const MEASURED_TOKENS = 48;
const PROMPT = "Count from one to one hundred in words.";

// A service on this machine goes on with its requests.
lowerPriority();
const [path = ""] = process.argv.slice(2);
const loaded = await loadModel({
  path,
  contextSize: 512,
  slots: 1,
  threads: undefined,
  gpu: "auto",
  gpuLayers: undefined,
  flashAttention: "auto",
  batchSize: 64,
  lora: [],
});
const model = new BatchedChatModel({
  ...loaded,
  prefixReuse: false,
  maxChoices: 1,
  chatTemplate: undefined,
  warn: () => {},
});
let firstAt: number | undefined;
let lastAt = 0;
let tokens = 0;
await model.run(
  {
    ...DEFAULT_CHAT_REQUEST,
    messages: [{ role: "user", content: PROMPT }],
    maxTokens: MEASURED_TOKENS,
    minTokens: MEASURED_TOKENS,
    toolChoice: "none",
  },
  {
    emit: (event) => {
      lastAt = performance.now();
      if (event.type === "start") firstAt = lastAt;
      if (event.type === "finish") tokens = event.usage.completionTokens;
    },
    signal: new AbortController().signal,
  },
);
const speed = ((tokens - 1) * 1000) / (lastAt - (firstAt ?? lastAt));
await new Promise<void>((written) => process.stdout.write(`${speed}\n`, () => written()));
// llama.cpp's threads keep the process running.
process.exit();
