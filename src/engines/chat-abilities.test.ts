/** The behavior that all chat engines with an optional ability share. A new engine adds one row to `SUBJECTS`. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeEngineServices } from "../../test/support/models/engine-services.ts";
import { openShallowLlamaCpp } from "../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../test/support/service/chat-request.ts";
import { readAnswer } from "../../test/support/service/read-answer.ts";
import type { ChatEvent, ChatModel } from "../contracts/chat-model.ts";
import { scriptedEngine } from "./scripted/scripted-engine.ts";
import { scriptedSettings } from "./scripted/settings.ts";

const SUBJECTS: Record<string, () => Promise<ChatModel>> = {
  "llama-cpp": () => openShallowLlamaCpp(),
  scripted: () => openScripted("parent"),
  "scripted in a child process": () => openScripted("child"),
};

async function openScripted(process: "parent" | "child"): Promise<ChatModel> {
  const abilities = { choices: 4, logprobs: true };
  const texts = ["Once upon a time 🐉 there lived a très small dragon.", "There was no dragon, and nobody missed one."];
  const settings = scriptedSettings.parse({ replies: [{ texts }], abilities, process });
  return (await scriptedEngine.open(settings, "chat", makeEngineServices())) as ChatModel;
}

const never = () => new AbortController().signal;
const story = (asked: Parameters<typeof makeChatRequest>[0]) =>
  makeChatRequest({ say: "Tell me a story of a dragon.", seed: 5, maxTokens: 6, ...asked });

type Piece = Extract<ChatEvent, { type: "text" }>;
const piecesOf = (events: readonly ChatEvent[], choice: number): Piece[] =>
  events.filter((event): event is Piece => event.type === "text" && event.choice === choice);
const textOf = (events: readonly ChatEvent[], choice: number) =>
  piecesOf(events, choice)
    .map(({ text }) => text)
    .join("");

describe.each(Object.entries(SUBJECTS))("%s", (_name, open) => {
  let model: ChatModel;
  beforeAll(async () => {
    model = await open();
  });
  afterAll(() => model.close());

  test("ends each of several choices once, before the finish", async () => {
    const { events, finish } = await readAnswer(model.chat(story({ choices: 3 }), never()));
    const ends = events.filter((event) => event.type === "choice-end");
    expect(ends.map(({ choice }) => choice).sort()).toEqual([0, 1, 2]);
    expect(events.at(-1)).toBe(finish);
    for (const choice of [0, 1, 2]) {
      const last = events.findLastIndex((event) => "choice" in event && event.choice === choice);
      expect(events[last]?.type).toBe("choice-end");
      expect(textOf(events, choice).length).toBeGreaterThan(0);
      expect(textOf(events, choice).isWellFormed()).toBe(true);
    }
  });

  test("limits each choice to maxTokens and counts the prompt once", async () => {
    const three = await readAnswer(model.chat(story({ choices: 3, maxTokens: 2 }), never()));
    const one = await readAnswer(model.chat(story({ maxTokens: 2 }), never()));
    expect(three.finish?.usage.completionTokens).toBe(6);
    expect(three.finish?.usage.promptTokens).toBe(one.finish?.usage.promptTokens);
    const counts = three.events.flatMap((event) => ("completionTokens" in event ? [event.completionTokens] : []));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    const starts = three.events.filter((event) => event.type === "start");
    expect(starts).toHaveLength(1);
    expect(three.events[0]).toBe(starts[0]);
  });

  test("samples each choice independently, also with a seed", async () => {
    const { events } = await readAnswer(model.chat(story({ choices: 2, temperature: 1.5 }), never()));
    expect(textOf(events, 1)).not.toBe(textOf(events, 0));
  });

  test("ends all choices on abort", async () => {
    const abort = new AbortController();
    const events = model.chat(story({ choices: 3, maxTokens: 400 }), abort.signal)[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    abort.abort();
    const rest: unknown[] = [];
    for (let next = await events.next(); !next.done; next = await events.next()) rest.push(next.value);
    expect(rest.length).toBeLessThanOrEqual(1);
  });

  test.each([0, 3])("reports the log probability of each token, with %i alternatives", async (topLogprobs) => {
    const { events, text } = await readAnswer(model.chat(story({ topLogprobs, temperature: 0 }), never()));
    const reported = piecesOf(events, 0).flatMap(({ logprobs }) => logprobs ?? []);
    expect(Buffer.from(reported.flatMap(({ bytes }) => bytes)).toString()).toBe(text);
    for (const { logprob, top } of reported) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top).toHaveLength(topLogprobs);
      const others = top.map((each) => each.logprob);
      expect(others).toEqual(others.toSorted((a, b) => b - a));
      expect(top.reduce((sum, each) => sum + Math.exp(each.logprob), 0)).toBeLessThanOrEqual(1.0001);
    }
  });

  test("reports no log probabilities unless requested", async () => {
    const { events } = await readAnswer(model.chat(story({}), never()));
    for (const { logprobs } of piecesOf(events, 0)) expect(logprobs).toBeUndefined();
  });
});
