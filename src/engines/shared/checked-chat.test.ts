import { expect, test } from "vitest";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import type { ChatEvent, ChatRequest, FinishReason, Tool } from "../../contracts/chat-model.ts";
import { checkedChat } from "./checked-chat.ts";
import { withGrammars } from "./compile-schemas.ts";

const schema = { type: "array", items: { type: "string" }, uniqueItems: true };
const format = { type: "json-schema" as const, schema, param: "response_format" };
const usage = { promptTokens: 7, cachedTokens: 0, completionTokens: 3, reasoningTokens: 0, estimated: false };
const never = () => new AbortController().signal;

/** Answers each call with the next texts, one for each choice, and records the requests. */
function scripted(answers: readonly (readonly string[])[], reason: FinishReason = "stop") {
  const requests: ChatRequest[] = [];
  async function* chat(request: ChatRequest): AsyncGenerator<ChatEvent> {
    const texts = answers[requests.length] ?? [];
    requests.push(request);
    yield { type: "start", promptTokens: 7, cachedTokens: 0 };
    for (const [choice, text] of texts.entries()) {
      yield { type: "text", choice, text: text.slice(0, 2), completionTokens: 1 };
      yield { type: "text", choice, text: text.slice(2), completionTokens: 2 };
      yield { type: "choice-end", choice, reason };
    }
    yield { type: "finish", usage };
  }
  return { requests, chat };
}

async function ask({ chat }: ReturnType<typeof scripted>, asked: Parameters<typeof makeChatRequest>[0] = { format }) {
  const signal = never();
  const request = makeChatRequest(asked);
  return readAnswer(checkedChat((await withGrammars(request, signal)) ?? request, signal, chat));
}

test("samples again while an answer violates a keyword that the grammar does not enforce", async () => {
  const model = scripted([['["a","a"]'], ['["b","b"]'], ['["a","b"]']]);
  const { text, reason, finish } = await ask(model, { format, seed: 5, temperature: 0 });
  expect(text).toBe('["a","b"]');
  expect(reason).toBe("stop");
  expect(model.requests.map(({ seed }) => seed)).toEqual([5, 6, 7]);
  expect(model.requests.map(({ temperature }) => temperature)).toEqual([0, 0.8, 0.8]);
  expect(finish?.usage).toEqual({ ...usage, promptTokens: 21, completionTokens: 9 });
});

test("repeats only the invalid choices, and keeps their order", async () => {
  const model = scripted([['["a"]', '["b","b"]', '["c"]'], ['["d"]']]);
  const { events } = await ask(model, { format, choices: 3 });
  expect(model.requests.map(({ choices }) => choices)).toEqual([3, 1]);
  const texts = [0, 1, 2].map((choice) =>
    events.flatMap((event) => (event.type === "text" && event.choice === choice ? [event.text] : [])).join(""),
  );
  expect(texts).toEqual(['["a"]', '["d"]', '["c"]']);
  expect(events.filter(({ type }) => type === "start")).toHaveLength(1);
});

test("refuses after four invalid answers, with the violation and the usage of all", async () => {
  const model = scripted(Array.from({ length: 9 }, () => ['["a","a"]']));
  await expect(ask(model)).rejects.toMatchObject({
    kind: "answer-unfit",
    code: "answer_unfit",
    message: expect.stringMatching(/4 answers.*duplicate items.*response_format\.uniqueItems/),
    used: { promptTokens: 28, completionTokens: 12 },
  });
  expect(model.requests).toHaveLength(4);
});

test("passes a truncated answer", async () => {
  const model = scripted([['["a","a"']], "length");
  expect(await ask(model)).toMatchObject({ text: '["a","a"', reason: "length" });
});

test("validates the arguments of tool calls", async () => {
  const tool: Tool = {
    name: "tag",
    description: "",
    parameters: { type: "object", properties: { tags: schema }, required: ["tags"] },
    param: "tools[0].function.parameters",
  };
  const calls = ['{"tags":["a","a"]}', '{"tags":["a"]}'];
  let attempts = 0;
  async function* chat(): AsyncGenerator<ChatEvent> {
    const text = calls[attempts] ?? "";
    attempts += 1;
    yield { type: "tool-call", choice: 0, index: 0, id: "1", name: "tag", completionTokens: 1 };
    yield { type: "tool-arguments", choice: 0, index: 0, text, completionTokens: 2 };
    yield { type: "choice-end", choice: 0, reason: "tool_calls" };
    yield { type: "finish", usage };
  }
  const signal = never();
  const request = await withGrammars(makeChatRequest({ tools: [tool] }), signal);
  const events: ChatEvent[] = [];
  for await (const event of checkedChat(request as ChatRequest, signal, chat)) events.push(event);
  expect(attempts).toBe(2);
  expect(events.find(({ type }) => type === "tool-arguments")).toMatchObject({ text: calls[1] });
});

test("streams an answer whose schema the grammar enforces", async () => {
  const signal = never();
  const request = await withGrammars(makeChatRequest({ format: { ...format, schema: { type: "array" } } }), signal);
  let sent = 0;
  async function* chat(): AsyncGenerator<ChatEvent> {
    for (; sent < 3; sent += 1) yield { type: "text", choice: 0, text: "[", completionTokens: 1 };
  }
  for await (const event of checkedChat(request as ChatRequest, signal, chat)) {
    expect(event.type).toBe("text");
    break;
  }
  expect(sent).toBe(0);
});
