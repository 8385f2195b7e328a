import { expect, test } from "vitest";
import { makeChatRequest } from "../../../../test/support/service/chat-request.ts";
import { readCompletion } from "./read-completion.ts";

const request = makeChatRequest({ model: 'ours "1"' });
const CHOICE = '{"index":0,"message":{"content":"\\u0041","model":"inner"},"finish_reason":"stop"}';

test("keeps the upstream's answer unchanged except for the model", () => {
  const body = `{"id": "a", "seed":12345678901234567890,"model" : "theirs", "choices":[${CHOICE}],"logprob":-1.0}\n`;
  const { completion } = readCompletion(body, request);
  expect(completion.json).toBe(body.replace('"theirs"', '"ours \\"1\\""'));
  expect(completion.fields).toEqual(JSON.parse(completion.json));
});

test.each([`{"choices":[${CHOICE}]}`, `{"id":"","choices":[${CHOICE}]}`, `{"id":null,"choices":[${CHOICE}]}`])(
  "gives an answer without them a model and an id: %s",
  (body) => {
    const { completion } = readCompletion(body, request);
    const { id, ...rest } = JSON.parse(completion.json);
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
    expect(rest).toEqual({ model: request.model, choices: [JSON.parse(CHOICE)] });
    expect(completion.fields).toEqual({ id, ...rest });
  },
);
