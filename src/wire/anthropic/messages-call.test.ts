import { expect, test } from "vitest";
import { toMessagesCall } from "./messages-call.ts";

const body = { model: "m", max_tokens: 50, messages: [{ role: "user" as const, content: "Hello." }] };

test("takes a model's defaults for omitted parameters, the first ones before later ones", () => {
  const call = toMessagesCall({ ...body, top_p: 0.9 }, {});
  const { request } = call
    .withDefaults({ temperature: 0.2, topP: 0.5, maxTokens: 5 })
    .withDefaults({ temperature: 1, topK: 20 });
  expect(request).toMatchObject({ temperature: 0.2, topP: 0.9, topK: 20, maxTokens: 50 });
});
