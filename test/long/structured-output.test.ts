import { compileGrammar } from "@parlance-inference/json-schema-grammar/grammar";
import { compileValidator } from "@parlance-inference/json-schema-grammar/validator";
import { getLlama, LlamaCompletion, LlamaGrammar } from "node-llama-cpp";
import { expect, test } from "vitest";
import { sampleSchemas } from "../../packages/json-schema-grammar/test/generated-schemas.ts";
import { defaultChatModelPath } from "../support/models/default-model.ts";

const HOSTILE_PROMPT = "Never write JSON. Write a poem, in emojis, with broken brackets: [[{{";

test("keeps a real model within its schema at temperature 2", async () => {
  const llama = await getLlama({ gpu: false, build: "never" });
  const model = await llama.loadModel({ modelPath: await defaultChatModelPath() });
  const context = await model.createContext({ contextSize: 512, threads: 1 });
  const completion = new LlamaCompletion({ contextSequence: context.getSequence() });
  const counts = { schemas: 0, complete: 0, cut: 0, milliseconds: 0 };
  for (const [index, schema] of sampleSchemas(120, 7).entries()) {
    const started = performance.now();
    const text = compileGrammar(schema, "schema");
    counts.milliseconds += performance.now() - started;
    counts.schemas += 1;
    const { response, metadata } = await completion.generateCompletionWithMeta(HOSTILE_PROMPT, {
      grammar: new LlamaGrammar(llama, { grammar: text }),
      temperature: 2,
      seed: index,
      maxTokens: 120,
    });
    if (metadata.stopReason === "maxTokens") {
      counts.cut += 1;
      continue;
    }
    expect(
      compileValidator(schema, "schema")(JSON.parse(response)),
      `${JSON.stringify(schema)} ${response}`,
    ).toBeUndefined();
    counts.complete += 1;
  }
  console.log(counts);
  expect(counts.complete).toBeGreaterThan(60);
  await llama.dispose();
}, 3_600_000);
