/** A model's defaults for omitted parameters, and settings added to built-in models. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultChatModelPath } from "../support/models/default-model.ts";
import { shallowModelPath } from "../support/models/shallow-model.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: true
local: { load: on_demand }
models:
  - id: terse
    task: chat
    defaults: { max_completion_tokens: 2 }
    deployments: [{ engine: scripted, replies: [{ text: "one two three four five" }] }]
  - id: greedy-file
    task: chat
    deployments: [{ engine: llama-cpp, file: MODEL_FILE, context_size: 512 }]
  - id: smollm2-135m-instruct
    aliases: [gpt-4o-mini]
    access_groups: [small]
    price: { prompt: "0.0000001", completion: "0.0000002" }
`;

let service: Service;
beforeAll(async () => {
  const file = await shallowModelPath(await defaultChatModelPath());
  service = await startService({ config: CONFIG.replace("MODEL_FILE", file) });
});
afterAll(() => service?.stop());

const user = { role: "user" as const, content: "Count." };

test("applies a model's defaults to omitted parameters", async () => {
  const { choices } = await service.client().chat.completions.create({ model: "terse", messages: [user] });
  expect(choices[0]?.finish_reason).toBe("length");
});

test.each(["max_tokens", "max_completion_tokens"])("prefers the request's %s to the model's default", async (field) => {
  const request = { model: "terse", messages: [user], [field]: 50 };
  const { choices } = await service.client().chat.completions.create(request);
  expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "one two three four five" } });
});

test("applies a model's defaults to requests of the Responses API", async () => {
  const response = await service.client().responses.create({ model: "terse", input: "Count." });
  expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
});

test("applies the sampling that a model's file recommends, unless the request sets it", async () => {
  const ask = async (fields: object) => {
    const request = { model: "greedy-file", messages: [user], max_tokens: 12, ...fields };
    const { choices } = await service.client().chat.completions.create(request);
    return choices[0]?.message.content;
  };
  const [first, second, sampled] = [await ask({ seed: 1 }), await ask({ seed: 2 }), await ask({ temperature: 1.5 })];
  expect(second).toBe(first);
  expect(sampled).not.toBe(first);
  const response = await service
    .client()
    .responses.create({ model: "greedy-file", input: "Count.", max_output_tokens: 12 });
  expect(response.output_text).toBe(first);
});

test("gives a built-in model an alias, a price and access groups without defining it again", async () => {
  const response = await service.fetch("/v1/models/gpt-4o-mini?include_metadata=true");
  expect(response.status).toBe(200);
  const model = (await response.json()) as { id: string; metadata: unknown };
  expect(model.id).toBe("smollm2-135m-instruct");
  expect(JSON.stringify(model)).toContain("0.0000001");
});

// Several times, because the model's recommended parameters sample.
test.each([1, 2, 3, 4, 5])("answers the README's question with a built-in model's defaults (%d)", async () => {
  const { choices } = await service.client().chat.completions.create({
    model: "gpt-4o-mini",
    messages: [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: "What is the capital of France?" },
    ],
  });
  expect(choices[0]?.finish_reason).toBe("stop");
  expect(choices[0]?.message.content).toContain("Paris");
});
