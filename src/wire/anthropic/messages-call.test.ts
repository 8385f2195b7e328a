import { expect, test } from "vitest";
import { readMessagesBody } from "./messages-body.ts";
import { toMessagesCall } from "./messages-call.ts";

test("takes a model's defaults for omitted parameters, the first ones before later ones", () => {
  const messages = [{ role: "user", content: "Hello." }];
  const call = toMessagesCall(readMessagesBody({ model: "m", max_tokens: 50, messages, top_p: 0.9 }), {}, "ignore");
  const { request } = call
    .withDefaults({ temperature: 0.2, topP: 0.5, maxTokens: 5 })
    .withDefaults({ temperature: 1, topK: 20 });
  expect(request).toMatchObject({ temperature: 0.2, topP: 0.9, topK: 20, maxTokens: 50 });
});
