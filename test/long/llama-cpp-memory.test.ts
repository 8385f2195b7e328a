/** Memory of a GGUF model's process over thousands of requests and full prompts. */

import { expect, test } from "vitest";
import { openLlamaCpp } from "../support/models/llama-cpp.ts";
import { makeChatRequest } from "../support/service/chat-request.ts";
import { readAnswer } from "../support/service/read-answer.ts";
import { residentMegabytes } from "../support/service/resident-megabytes.ts";

test.runIf(process.platform === "linux").each([
  ["whose prompts are found evaluated already", { temperature: 1 }, 4000],
  ["whose prompts are evaluated each time", { temperature: 0, seed: 1 }, 400],
])("does not grow with requests %s", async (_which, sampling, requests) => {
  // Small batches: a prompt then takes more than one.
  const model = await openLlamaCpp({ batch_size: 32 });
  try {
    const serve = async (count: number) => {
      for (let served = 0; served < count; served += 4) {
        const asked = [1, 2, 3, 4].map((word) => makeChatRequest({ say: `Say ${word}.`, maxTokens: 1, ...sampling }));
        await Promise.all(asked.map((each) => readAnswer(model.chat(each, new AbortController().signal))));
      }
    };
    await serve(140);
    const before = residentMegabytes(model.pid as number);
    await serve(requests);
    const grown = residentMegabytes(model.pid as number) - before;
    console.log(`${requests} requests: ${before.toFixed(0)} MB before, ${grown.toFixed(1)} MB more afterwards`);
    expect(grown).toBeLessThan(40);
  } finally {
    await model.close();
  }
});
