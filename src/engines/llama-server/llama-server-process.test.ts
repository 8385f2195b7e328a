/** Supervision and requests of a llama-server, with a stand-in program that needs no model. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatCall, makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import type { ChatModel, ChatRequest, RawPrompt } from "../../contracts/chat-model.ts";
import { llamaServerEngine } from "./llama-server-engine.ts";
import { llamaServerSettings } from "./settings.ts";

const SUPPORT = join(import.meta.dirname, "../../../test/support");
const BINARY = join(SUPPORT, "models/scripted-llama-server.mjs");
const never = () => new AbortController().signal;
const opened: ChatModel[] = [];

afterEach(async () => {
  for (const model of opened.splice(0)) await model.close();
});

async function open(settings: Record<string, unknown> = {}, signal = never()): Promise<ChatModel> {
  const services = makeEngineServices({
    pull: async (reference) => ({ path: "hf" in reference ? `/pulled/${reference.hf}` : "model.gguf", paths: {} }),
    signal,
  });
  const checked = llamaServerSettings.parse({ binary: BINARY, file: "model.gguf", ...settings });
  const model = (await llamaServerEngine.open(checked, "chat", services)) as ChatModel;
  opened.push(model);
  return model;
}

const ask = (model: ChatModel, request: Parameters<typeof makeChatRequest>[0]) =>
  readAnswer(model.chat(makeChatRequest(request), never()));

/** The body that the server received. */
async function sent(
  model: ChatModel,
  request: Partial<ChatRequest> & { say?: string },
): Promise<Record<string, unknown>> {
  return JSON.parse((await ask(model, request)).text);
}

test("reports slots, context window and the abilities of the template", async () => {
  const model = await open({ slots: 2, context_size: 512, options: ["--with-tools"], projector_file: "eyes.gguf" });
  expect(model).toMatchObject({
    slots: 2,
    contextWindow: 512,
    abilities: {
      tools: true,
      reasoning: true,
      vision: true,
      choices: 2,
      jsonSchema: true,
      logprobs: true,
      infill: false,
    },
  });
  expect((await open()).abilities).toMatchObject({ tools: false, reasoning: false, vision: false });
});

test("downloads a projector of the hub, and sends images to a model that has one", async () => {
  const model = await open({ projector_hf: "owner/repo/mmproj-F16.gguf" });
  expect(model.abilities.vision).toBe(true);
  expect(readFileSync(`/proc/${model.pid}/cmdline`, "utf8").split("\0")).toContain(
    "/pulled/owner/repo/mmproj-F16.gguf",
  );
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const at = "messages[0].content[0]";
  const image = { type: "image" as const, url, param: { type: `${at}.type`, url: `${at}.image_url.url` } };
  const messages = [{ role: "user" as const, content: [image, { type: "text" as const, text: "What is this?" }] }];
  const body = await sent(model, { messages });
  expect(body.messages).toEqual([
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url } },
        { type: "text", text: "What is this?" },
      ],
    },
  ]);
});

test("takes one projector", () => {
  const settings = { file: "model.gguf", projector_file: "eyes.gguf", projector_hf: "a/b/mmproj.gguf" };
  expect(llamaServerSettings.safeParse(settings).error?.issues).toMatchObject([
    { path: ["projector_file"], message: "cannot be set beside projector_hf" },
  ]);
});

test("names the process of llama-server, whose memory counts towards the budget", async () => {
  const { pid } = await open();
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toContain("scripted-llama-server");
});

test("sends every parameter that has another default in llama-server", async () => {
  const body = await sent(await open(), { temperature: 1, topK: undefined });
  expect(body).toMatchObject({ top_k: 256, min_p: 0, repeat_penalty: 1, n: 1, max_tokens: -1, cache_prompt: true });
  expect(body.seed).toBeTypeOf("number");
  expect(body).not.toHaveProperty("grammar");
});

test("sends all sampling parameters", async () => {
  const body = await sent(await open(), {
    ...{ topK: 5, minP: 0.1, frequencyPenalty: 0.5, presencePenalty: -0.5, repeatPenalty: 1.2 },
    ...{ logitBias: { 7: -100 }, seed: -1, topLogprobs: 3, stop: ["x"], maxTokens: 9 },
  });
  expect(body).toMatchObject({
    ...{ top_k: 5, min_p: 0.1, frequency_penalty: 0.5, presence_penalty: -0.5, repeat_penalty: 1.2 },
    ...{ logit_bias: { 7: -100 }, seed: 2 ** 32 - 2, logprobs: true, top_logprobs: 3, stop: ["x"], max_tokens: 9 },
    cache_prompt: false,
  });
});

test("sends a raw prompt without messages to the completions of llama-server", async () => {
  const model = await open();
  const prompted = (prompt: RawPrompt) => sent(model, { messages: [], prompt, topLogprobs: 2 });
  const body = await prompted({ input: "Once" });
  expect(body).toMatchObject({ prompt: "Once", logprobs: 2, n: 1 });
  expect(body).not.toHaveProperty("messages");
  expect(await prompted({ input: [1, 2] })).toMatchObject({ prompt: [1, 2] });
  await expect(prompted({ input: "Once", echo: true })).rejects.toMatchObject({ param: "echo" });
});

test("clamps bounds beyond 32 bits", async () => {
  const max = 2 ** 31 - 1;
  expect(await sent(await open(), { topK: 2 ** 32 + 1, maxTokens: 2 ** 32 + 1 })).toMatchObject({
    top_k: max,
    max_tokens: max,
  });
});

test("sends earlier calls without arguments as an empty JSON object", async () => {
  const call = (written: string) => ({ id: "c", type: "function", function: { name: "f", arguments: written } });
  const messages = [{ role: "assistant", content: null, tool_calls: [call(""), call('{"a":1}')] }];
  const { request } = makeChatCall({ messages });
  expect((await sent(await open(), request)).messages).toEqual([
    { role: "assistant", content: null, tool_calls: [call("{}"), call('{"a":1}')] },
  ]);
});

test("sends a named tool as the only one, and required", async () => {
  const tool = (name: string) => ({ name, description: undefined, parameters: undefined, param: "tools[0]" });
  const model = await open({ options: ["--with-tools"] });
  const body = await sent(model, { tools: [tool("one"), tool("two")], toolChoice: { name: "two" } });
  expect(body.tool_choice).toBe("required");
  expect(body.tools).toMatchObject([{ type: "function", function: { name: "two", parameters: { type: "object" } } }]);
  expect(await sent(model, { tools: [tool("one")], toolChoice: "none" })).not.toHaveProperty("tools");
});

test("sends developer messages as system messages and passes the reasoning effort to the template", async () => {
  const model = await open();
  const messages = [
    { role: "developer" as const, content: "Be brief." },
    { role: "user" as const, content: "Hi." },
  ];
  const body = await sent(model, { messages, reasoningEffort: "low" });
  expect(body.messages).toMatchObject([{ role: "system" }, { role: "user" }]);
  expect(body.chat_template_kwargs).toEqual({ enable_thinking: true, reasoning_effort: "low" });
  expect((await sent(model, { reasoningEffort: "none" })).chat_template_kwargs).toEqual({ enable_thinking: false });
});

test("sends a response format as a grammar and disables reasoning", async () => {
  const model = await open();
  const schema = { type: "object", properties: { a: { const: 1 } }, required: ["a"], additionalProperties: false };
  const body = await sent(model, { format: { type: "json-schema", schema, param: "response_format" } });
  expect(body.grammar).toContain("root");
  expect(body.chat_template_kwargs).toEqual({ enable_thinking: false });
});

test("counts the tokens of all choices", async () => {
  const { finish } = await ask(await open(), { choices: 3 });
  // 5 of the prompt, which is the same for all, and 4 of each choice.
  expect(finish?.usage).toMatchObject({ promptTokens: 5, completionTokens: 12 });
});

test("gives the server a new key and none of the service's secrets", async () => {
  process.env.DATABASE_URL = "postgres://user:secret@host/db";
  try {
    const [key, secret] = JSON.parse((await ask(await open(), { say: "key" })).text);
    expect(key).toMatch(/^[\w-]{32}$/);
    expect(secret).toBeNull();
  } finally {
    delete process.env.DATABASE_URL;
  }
});

test("fails the requests of a crashed server with a Fault and restarts it", async () => {
  const model = await open();
  const hanging = ask(model, { say: "hang" }).then(unexpected, (error: unknown) => error);
  await expect(ask(model, { say: "crash" })).rejects.toMatchObject({ kind: "unavailable", code: "engine_failed" });
  expect(await hanging).toMatchObject({ kind: "unavailable", code: "engine_failed" });
  await eventually(() => expect(model.health()).toMatchObject({ state: "up" }));
  expect((await ask(model, {})).text).not.toBe("");
});

test("ends the server when its parent process ends or is killed", async () => {
  const model = await open();
  const server = await serverOf(process.pid);
  process.kill(parentOf(server), "SIGKILL");
  await eventually(() => expect(isRunning(server)).toBe(false));
  await eventually(() => expect(model.health()).toMatchObject({ state: "up" }));
  const next = await serverOf(process.pid);
  await model.close();
  expect(isRunning(next)).toBe(false);
});

test("ends the server when the service is killed", async () => {
  const service = spawn(process.execPath, [join(SUPPORT, "models/killable-llama-server-child.ts"), BINARY], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(service.stdout, "data");
  const server = await serverOf(service.pid ?? 0);
  service.kill("SIGKILL");
  await eventually(() => expect(isRunning(server)).toBe(false));
});

test("reports the last output of a server that does not start, and kills one that takes too long", async () => {
  await expect(open({ options: ["--fail"] })).rejects.toThrow(
    "llama-server ended by itself (exit code 1): error: invalid argument: --fail",
  );
  await expect(open({ options: ["--never-ready"], start_timeout_seconds: 1 })).rejects.toThrow(
    "llama-server had not loaded its model after 1 seconds (start_timeout_seconds).",
  );
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 1500);
  await expect(open({ options: ["--never-ready"] }, abort.signal)).rejects.toMatchObject({ kind: "unavailable" });
  await eventually(async () => expect(await serversOf(process.pid)).toEqual([]));
});

async function serverOf(servicePid: number): Promise<number> {
  const [pid] = await serversOf(servicePid);
  if (pid === undefined) throw new Error("no server runs");
  return pid;
}

/** PIDs of the stand-ins, including orphans whose parent has ended. */
async function serversOf(servicePid: number): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(BINARY) && isOf(pid, servicePid);
    } catch {
      return false;
    }
  });
}

function isOf(pid: number, servicePid: number): boolean {
  const parent = parentOf(pid);
  return parent === 1 || parentOf(parent) === servicePid;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function unexpected(answer: unknown): never {
  throw new Error(`answered instead of failing: ${JSON.stringify(answer).slice(0, 200)}`);
}
