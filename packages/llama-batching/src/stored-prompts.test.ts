/** Evaluated system prompts in files: what they save, and what they must not keep. */

import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import { makeGenerationRequest } from "../test/generation-request.ts";
import { BatchedChatModel } from "./batched-chat-model.ts";
import { openStoredStates } from "./evaluation/open-stored-states.ts";
import { loadModel } from "./load-model.ts";
import { TINY, writeRandomModel } from "./random-model.ts";
import type { GenerationEvent, GenerationRequest } from "./types.ts";

const test = oncePerState(import.meta.filename);

const KEY = Buffer.alloc(32, 1);
const DAY_MS = 24 * 60 * 60_000;
/** The model has one token for each byte, and the template adds a few. */
const SYSTEM = "Stones sleep in rivers at noon. ".repeat(40);
const SYSTEM_TOKENS = SYSTEM.length;
const STATE_BYTES = 1.2e6;

let folder: string;
let path: string;
let directory: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "stored-prompts-"));
  await writeRandomModel(join(folder, "model.gguf"), TINY);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  path = join(folder, "model.gguf");
  directory = join(await mkdtemp(join(folder, "states-")), "prompt-cache");
});

const loadOptions = (contextSize = 8192) => ({
  path,
  contextSize,
  slots: 2,
  threads: 1,
  gpu: false as const,
  gpuLayers: undefined,
  flashAttention: "auto" as const,
  batchSize: 128,
  lora: [],
});

/** A model as after a restart: nothing is evaluated. */
async function open({ key = KEY, maxBytes = 1e9, isStoring = true, contextSize = 8192 } = {}) {
  const loaded = await loadModel(loadOptions(contextSize));
  const warnings: string[] = [];
  const stored = { directory, key, maxBytes, warn: (message: string) => warnings.push(message) };
  const storedStates = isStoring ? await openStoredStates(stored, loadOptions(), loaded) : undefined;
  const options = { prefixReuse: true, maxChoices: 2, chatTemplate: undefined, warn: () => undefined };
  const model = new BatchedChatModel({ ...loaded, ...options, storedStates });
  return { model, warnings, storedStates, [Symbol.asyncDispose]: () => loaded.context.dispose() };
}

async function ask(
  model: BatchedChatModel,
  fields: Partial<GenerationRequest> & { say?: string; system?: string } = {},
) {
  const { say = "Where do stones sleep?", system = SYSTEM, ...rest } = fields;
  let text = "";
  let cachedTokens = 0;
  const emit = (event: GenerationEvent) => {
    if (event.type === "text") text += event.text;
    if (event.type === "finish") cachedTokens = event.usage.cachedTokens;
  };
  const messages = [
    { role: "system" as const, content: system },
    { role: "user" as const, content: say },
  ];
  const request = makeGenerationRequest({ messages, temperature: 0, maxTokens: 12, isStorable: true, ...rest });
  await model.run(request, { emit, signal: new AbortController().signal });
  await model.settled();
  return { text, cachedTokens };
}

const files = () => readdir(directory).catch(() => []);
/** What one run with these fields leaves to a model of another process. */
async function cachedAfter(fields: Parameters<typeof ask>[1], restarted: Parameters<typeof open>[0] = {}) {
  await using before = await open();
  await ask(before.model, fields);
  await using after = await open(restarted);
  return (await ask(after.model)).cachedTokens;
}

test("a restarted model continues after the system prompt, with the same answer", async () => {
  await using fresh = await open({ isStoring: false });
  const expected = await ask(fresh.model, { say: "What is at noon?" });
  expect(await files()).toEqual([]);
  await using before = await open();
  expect((await ask(before.model)).cachedTokens).toBe(0);
  const [name = ""] = await files();
  expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  await using after = await open();
  const answer = await ask(after.model, { say: "What is at noon?" });
  expect(answer.text).toBe(expected.text);
  expect(answer.cachedTokens).toBeGreaterThanOrEqual(SYSTEM_TOKENS);
  // Nothing of what the user said.
  expect(answer.cachedTokens).toBeLessThan(SYSTEM_TOKENS + 8);
  expect(await files()).toEqual([name]);
  const leftovers = await readdir("/dev/shm").catch(() => []);
  expect(leftovers.filter((each) => each.startsWith(`parlance-context-${process.pid}-`))).toEqual([]);
});

test("a system prompt that differs at its end is evaluated from there, and not stored again", async () => {
  await using before = await open();
  await ask(before.model, { system: `${SYSTEM}On the branch main.` });
  await using fresh = await open({ isStoring: false });
  const prompt = { system: `${SYSTEM}On the branch next.` };
  const expected = await ask(fresh.model, prompt);
  await using after = await open();
  const answer = await ask(after.model, prompt);
  expect(answer.text).toBe(expected.text);
  expect(answer.cachedTokens).toBeGreaterThanOrEqual(SYSTEM_TOKENS);
  expect(await files()).toHaveLength(1);
  await ask(after.model, { system: `${SYSTEM}${SYSTEM}Twice.` });
  expect(await files()).toHaveLength(2);
});

test("requests that run beside it are answered as alone", async () => {
  await using alone = await open({ isStoring: false });
  const others = ["Dragons eat granite.", "Chalk on Fridays."];
  const expected = [];
  for (const say of others) expected.push((await ask(alone.model, { say, system: "", maxTokens: 40 })).text);
  await using model = await open();
  const answers = others.map((say) => ask(model.model, { say, system: "", maxTokens: 40 }));
  await ask(model.model);
  expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(expected);
  expect(await files()).toHaveLength(1);
});

test.each<[string, Parameters<typeof ask>[1]]>([
  ["its caller does not want it", { isStorable: false }],
  ["it is short", { system: "Stones sleep. ".repeat(40) }],
  ["the same logits are promised", { seed: 1 }],
])("nothing is stored where %s", async (_, fields) => {
  expect(await cachedAfter(fields)).toBe(0);
  expect(await files()).toHaveLength(1);
});

test("a summary of the conversation is not stored, the system message before it is", async () => {
  const summary = (name: string) => ({ role: "developer" as const, content: `${name} is ill. `.repeat(80), isSummary });
  const isSummary = true as const;
  const messages = (name: string) => [
    { role: "system" as const, content: SYSTEM },
    summary(name),
    { role: "user" as const, content: "What now?" },
  ];
  await using before = await open();
  await ask(before.model, { messages: messages("Ada") });
  await using after = await open();
  const { cachedTokens } = await ask(after.model, { messages: messages("Ada") });
  expect(cachedTokens).toBeGreaterThanOrEqual(SYSTEM_TOKENS);
  expect(cachedTokens).toBeLessThan(SYSTEM_TOKENS + 8);
});

test("nothing of what a user says is stored, however it begins", async () => {
  await using before = await open();
  for (const say of ["Hello", ".", "..."]) await ask(before.model, { say });
  const [name = ""] = await files();
  await rm(join(directory, name));
  await using after = await open();
  await ask(after.model, { say: "..." });
  expect(await files()).toEqual([name]);
});

test("a request with a seed evaluates everything", async () => {
  await using before = await open();
  await ask(before.model);
  await using after = await open();
  expect((await ask(after.model, { seed: 1 })).cachedTokens).toBe(0);
});

test("another key reads nothing", async () => {
  expect(await cachedAfter({}, { key: Buffer.alloc(32, 2) })).toBe(0);
});

test("another file of the model reads nothing", async () => {
  await using before = await open();
  await ask(before.model);
  await utimes(path, new Date(), new Date());
  await using after = await open();
  expect((await ask(after.model)).cachedTokens).toBe(0);
});

test("a context of another size continues, unless the model's positions depend on it", async () => {
  expect(await cachedAfter({}, { contextSize: 4096 })).toBeGreaterThanOrEqual(SYSTEM_TOKENS);
  path = join(folder, "long-rope.gguf");
  await writeRandomModel(path, { ...TINY, originalContext: 4096 });
  expect(await cachedAfter({})).toBeGreaterThanOrEqual(SYSTEM_TOKENS);
  await using after = await open({ contextSize: 4096 });
  expect((await ask(after.model)).cachedTokens).toBe(0);
});

test.each<[string, (bytes: Buffer) => Buffer]>([
  ["altered", (bytes) => Buffer.concat([bytes.subarray(0, 5000), Buffer.from([1]), bytes.subarray(5001)])],
  ["truncated", (bytes) => bytes.subarray(0, 5000)],
  ["empty", () => Buffer.alloc(0)],
])("a file that is %s is removed, and the prompt evaluated", async (_, change) => {
  await using before = await open();
  await ask(before.model);
  const file = join(directory, (await files())[0] ?? "");
  const bytes = await readFile(file);
  await writeFile(file, change(bytes));
  await using after = await open();
  expect((await ask(after.model)).cachedTokens).toBe(0);
  expect(Buffer.compare(await readFile(file), bytes)).not.toBe(0);
  expect((await stat(file)).size).toBe(bytes.length);
});

test.each<[string, (file: string) => Promise<unknown>]>([
  ["is a directory", (file) => mkdir(join(file, "within"), { recursive: true })],
  ["the system does not open", (file) => symlink(file, file)],
])("a file that %s is left, and requests are answered", async (_, replace) => {
  await using before = await open();
  const expected = await ask(before.model);
  const [name = ""] = await files();
  await rm(join(directory, name));
  await replace(join(directory, name));
  await using after = await open();
  // More often than there are slots.
  for (const _ of [1, 2, 3]) expect((await ask(after.model, { isStorable: false })).text).toBe(expected.text);
  expect(await files()).toEqual([name]);
});

test("a long state is not read for the few tokens that it shares", async () => {
  const long = SYSTEM.repeat(5);
  await using before = await open();
  await ask(before.model, { system: long });
  await using after = await open();
  const other = (shared: number) => ({ system: `${long.slice(0, shared)}Other. ${"Clouds walk. ".repeat(100)}` });
  expect((await ask(after.model, other(300))).cachedTokens).toBe(0);
  await using third = await open();
  expect((await ask(third.model, { ...other(600), isStorable: false })).cachedTokens).toBeGreaterThanOrEqual(600);
});

test("what was used least recently makes room", async () => {
  await using before = await open({ maxBytes: 2.5 * STATE_BYTES });
  const systems = ["a", "b", "c"].map((letter) => letter + SYSTEM);
  await ask(before.model, { system: systems[0] });
  const [first = ""] = await files();
  await utimes(join(directory, first), new Date(), new Date(Date.now() - DAY_MS / 2));
  await ask(before.model, { system: systems[1] });
  // In use again, by what is still in memory.
  await ask(before.model, { system: systems[0], say: "And at night?" });
  const [second = ""] = (await files()).filter((name) => name !== first);
  await utimes(join(directory, second), new Date(), new Date(Date.now() - DAY_MS / 4));
  await ask(before.model, { system: systems[2] });
  expect(await files()).toHaveLength(2);
  expect(await files()).toContain(first);
  expect(await files()).not.toContain(second);
});

test("a state beyond the limit is not stored", async () => {
  await using before = await open({ maxBytes: STATE_BYTES / 2 });
  await ask(before.model);
  expect(await files()).toEqual([]);
});

test("what was not used for a day is removed, and abandoned drafts earlier", async () => {
  await using before = await open();
  await ask(before.model);
  const [name = ""] = await files();
  await writeFile(join(directory, "abandoned.draft"), "");
  await utimes(join(directory, "abandoned.draft"), new Date(), new Date(Date.now() - DAY_MS / 24));
  await utimes(join(directory, name), new Date(), new Date(Date.now() - DAY_MS + 60_000));
  await before.storedStates?.sweep();
  expect(await files()).toEqual([name]);
  await utimes(join(directory, name), new Date(), new Date(Date.now() - DAY_MS - 60_000));
  await using _after = await open();
  expect(await files()).toEqual([]);
});

test("reports a directory that cannot be written and answers the request", async () => {
  await writeFile(directory, "a file");
  await using before = await open();
  expect((await ask(before.model)).text).not.toBe("");
  expect(before.warnings.join()).toMatch(/could not be stored: ENOTDIR|EEXIST/);
});
