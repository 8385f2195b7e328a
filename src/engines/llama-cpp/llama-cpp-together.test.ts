/** Concurrent requests: batches, slots, aborts, crashes. */

import { afterAll, beforeAll, expect } from "vitest";
import { openShallowLlamaCpp } from "../../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { residentMegabytes } from "../../../test/support/service/resident-megabytes.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { ChatEvent, ChatModel } from "../../contracts/chat-model.ts";
import type { Hosted } from "../host/host-model.ts";

const test = oncePerState(import.meta.filename);

let model: Hosted<ChatModel>;
beforeAll(async () => {
  // Small batches: a prompt of some hundred tokens then takes many of them, on a busy machine too.
  model = await openShallowLlamaCpp({ batch_size: 32 });
});
afterAll(() => model?.close());

const never = () => new AbortController().signal;
const ask = (asked: Parameters<typeof makeChatRequest>[0], signal = never()) =>
  model.chat(makeChatRequest({ temperature: 0, seed: 1, ...asked }), signal);
/** About 600 tokens, 19 batches. Each begins with another word, which prevents prefix reuse. */
const longPrompt = (word: string) => `${word} `.repeat(20).concat("The dragon ate another rock. ".repeat(80));

test("decodes eight requests in four slots to the same text as each alone", async () => {
  const subjects = ["gravity", "the sea", "a dragon", "music", "bread", "winter", "trains", "sleep"];
  const explain = (subject: string) => readAnswer(ask({ say: `What is ${subject}?`, maxTokens: 20 }));
  const together = await Promise.all(subjects.map(explain));
  for (const [index, { text, finish }] of together.entries()) {
    const alone = await explain(subjects[index] as string);
    expect(finish?.usage.promptTokens).toBe(alone.finish?.usage.promptTokens);
    expect(finish?.usage.completionTokens).toBeGreaterThan(0);
    expect(text).toBe(alone.text);
  }
});

test("decodes other requests while a long prompt is evaluated", async () => {
  const speaking = ask({ say: "Write a very long story.", maxTokens: 900 })[Symbol.asyncIterator]();
  await speaking.next();
  const long = readAnswer(ask({ say: longPrompt("stone"), maxTokens: 1 }));
  let isRead = false;
  const read = long.then(() => {
    isRead = true;
  });
  let meanwhile = 0;
  for (let next = await speaking.next(); !next.done && !isRead; next = await speaking.next()) meanwhile += 1;
  await read;
  await speaking.return?.();
  // One token per batch, except those generated before the first was read.
  expect(meanwhile).toBeGreaterThan(8);
});

test("frees the slots of requests aborted while their prompts are evaluated", async () => {
  const aborts = Array.from({ length: 4 }, () => new AbortController());
  const given = aborts.map((abort, index) =>
    readAnswer(ask({ say: longPrompt(["sand", "clay", "mud", "chalk"][index] as string), maxTokens: 1 }, abort.signal)),
  );
  // Their prompts take 76 batches between them; this one waits for a slot.
  const waiting = readAnswer(ask({ say: "Say hello.", maxTokens: 1 }));
  await new Promise((resume) => setTimeout(resume, 50));
  for (const abort of aborts) abort.abort();
  for (const { events } of await Promise.all(given)) expect(events).toEqual([]);
  expect((await waiting).finish?.usage.completionTokens).toBe(1);
});

test("frees the slot of a request aborted mid-answer and removes an aborted request from the queue", async () => {
  const abort = new AbortController();
  const speaking = Array.from({ length: 4 }, () =>
    ask({ say: "Write a very long story.", maxTokens: 900 }, abort.signal),
  );
  const begun = speaking.map((events) => events[Symbol.asyncIterator]());
  await Promise.all(begun.map((events) => events.next()));
  const leaving = new AbortController();
  const left = readAnswer(ask({ say: "Say hello." }, leaving.signal));
  const waiting = readAnswer(ask({ say: "Say hello.", maxTokens: 2 }));
  leaving.abort();
  expect((await left).events).toEqual([]);
  abort.abort();
  for (const events of begun) expect((await events.next()).done).toBe(true);
  expect((await waiting).finish?.usage.completionTokens).toBe(2);
});

test.runIf(process.platform === "linux")("does not grow in memory with many requests", async () => {
  // Without a seed the evaluated prompts are reused, so many requests take little time.
  const serve = async (count: number) => {
    for (let served = 0; served < count; served += 4) {
      const answers = [1, 2, 3, 4].map((word) => ask({ say: `Say ${word}.`, temperature: 1, maxTokens: 1 }));
      await Promise.all(answers.map(readAnswer));
    }
  };
  // The bounded garbage has been allocated by now: samplers of 590 kB, up to 64 MiB of them.
  await serve(140);
  const before = residentMegabytes(model.pid as number);
  await serve(200);
  expect(residentMegabytes(model.pid as number) - before).toBeLessThan(40);
});

test.each(["SIGKILL", "SIGSEGV"] as const)("fails only the crashed model's requests after %s", async (signal) => {
  const other = await openShallowLlamaCpp({ slots: 1 });
  try {
    const untouched = readAnswer(
      other.chat(makeChatRequest({ temperature: 0, seed: 1, say: "Write a story.", maxTokens: 60 }), never()),
    );
    // Answers of hundreds of tokens: neither ends before the signal, although this process may get no CPU time for a while.
    const events = ask({ say: "Write a very long story.", minTokens: 900, maxTokens: 900 })[Symbol.asyncIterator]();
    const prefilling = readAnswer(ask({ say: longPrompt("iron"), minTokens: 300, maxTokens: 300 }));
    await events.next();
    await events.next();
    process.kill(model.pid as number, signal);
    const [spoken, waiting] = await Promise.allSettled([readRest(events), prefilling]);
    expect(spoken).toMatchObject({ status: "rejected", reason: { name: "Fault", code: "engine_failed" } });
    expect(waiting).toMatchObject({ status: "rejected", reason: { name: "Fault", code: "engine_failed" } });
    await eventually(() => expect(model.health().state).toBe("up"));
    expect((await readAnswer(ask({ say: "Say hello.", maxTokens: 2 }))).finish?.usage.completionTokens).toBe(2);
    expect((await untouched).finish?.usage.completionTokens).toBe(60);
  } finally {
    await other.close();
  }
});

async function readRest(events: AsyncIterator<ChatEvent>): Promise<void> {
  for (let next = await events.next(); !next.done; next = await events.next());
}

test("grows the context in the middle of an answer, beside others, without a change of the text", async () => {
  const growing = await openShallowLlamaCpp({ context_size: 8192 });
  try {
    expect(growing.contextWindow).toBe(8192);
    const say = "Stones sleep in rivers at noon. ".repeat(220);
    const long = { say, temperature: 1, seed: 7, minTokens: 300, maxTokens: 300, topLogprobs: 1 };
    const send = (asked: Parameters<typeof ask>[0]) => readAnswer(growing.chat(makeChatRequest(asked), never()));
    const logprobsOf = ({ events }: Awaited<ReturnType<typeof send>>) =>
      events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
    // The 2,048 tokens of each slot at first have room for the prompt and the usual length of an answer.
    const first = await send({ ...long, minTokens: 700, maxTokens: 700 });
    const promptTokens = first.finish?.usage.promptTokens ?? 0;
    expect(promptTokens).toBeLessThan(2048 - 256);
    expect(promptTokens + 700).toBeGreaterThan(2048);
    // Now there is room for all of it from the beginning.
    const [second] = await Promise.all([send(long), send({ say: "What is gravity?", temperature: 0, maxTokens: 20 })]);
    expect(second.finish?.usage.cachedTokens).toBeGreaterThan(1000);
    expect(logprobsOf(second)).toEqual(logprobsOf(first).slice(0, 300));
  } finally {
    await growing.close();
  }
});
