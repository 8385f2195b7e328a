/** A model's defaults for omitted parameters, and settings added to built-in models. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "./support/service.ts";

const CONFIG = `
local: { load: on_demand }
models:
  - id: terse
    task: chat
    defaults: { max_completion_tokens: 2 }
    deployments: [{ engine: scripted, replies: [{ text: "one two three four five" }] }]
  - id: smollm2-135m-instruct
    aliases: [gpt-4o-mini]
    access_groups: [small]
    price: { prompt: "0.0000001", completion: "0.0000002" }
    defaults: { temperature: 0 }
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
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

test("gives a built-in model an alias, a price and access groups without defining it again", async () => {
  const response = await service.fetch("/v1/models/gpt-4o-mini?include_metadata=true");
  expect(response.status).toBe(200);
  const model = (await response.json()) as { id: string; metadata: unknown };
  expect(model.id).toBe("smollm2-135m-instruct");
  expect(JSON.stringify(model)).toContain("0.0000001");
});

test("answers the README's question with a built-in model's recommended parameters", async () => {
  const { choices } = await service.client().chat.completions.create({
    model: "gpt-4o-mini",
    messages: [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: "What is the capital of France?" },
    ],
  });
  expect(choices[0]?.finish_reason).toBe("stop");
  expect(choices[0]?.message.content).toContain("Paris");
}, 120_000);
