import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { compileValidator } from "@parlance-inference/json-schema-grammar/validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { llamaServerBinary, openLlamaServer, WITHOUT_LLAMA_SERVER } from "../../../test/support/models/llama-server.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import type { ContentPart } from "../../contracts/chat-message.ts";
import type { ChatEvent, ChatModel, ChatRequest, TokenLogprob } from "../../contracts/chat-model.ts";
import { llamaServerEngine } from "./llama-server-engine.ts";
import { llamaServerSettings } from "./settings.ts";

const never = () => new AbortController().signal;
const capital = [
  { role: "system" as const, content: "You are a helpful assistant." },
  { role: "user" as const, content: "What is the capital of France?" },
];

test.skipIf(llamaServerBinary !== undefined)(`llama-server: ${WITHOUT_LLAMA_SERVER}`, ({ skip }) => skip());

test("explains how to install a missing llama-server", async () => {
  const settings = llamaServerSettings.parse({ binary: "no-such-llama-server", file: "model.gguf" });
  await expect(llamaServerEngine.open(settings, "chat", makeEngineServices())).rejects.toThrow(
    "llama.cpp's server cannot be started: no-such-llama-server is not on PATH. Install llama.cpp, or name its llama-server",
  );
});

test.each([
  [{}, "needs exactly one of `model`, `file` and `hf`"],
  [{ file: "a.gguf", options: ["--port", "80"] }, "--port is set by Parlance itself"],
  [{ file: "a.gguf", options: ["--api-key=x"] }, "--api-key is set by Parlance itself"],
  [{ file: "a.gguf", slots: 0 }, ">=1"],
])("rejects the settings %j", (settings, message) => {
  expect(llamaServerSettings.safeParse(settings).error?.message).toContain(message);
});

describe.skipIf(llamaServerBinary === undefined)("with the default model", () => {
  let model: Awaited<ReturnType<typeof openLlamaServer>>;
  const ask = (request: Partial<ChatRequest>) =>
    readAnswer(model.chat(makeChatRequest({ messages: capital, temperature: 0, ...request }), never()));

  beforeAll(async () => {
    model = await openLlamaServer();
  });
  afterAll(() => model.close());

  test("reports its abilities", () => {
    expect(model).toMatchObject({
      slots: 4,
      contextWindow: 1024,
      abilities: { tools: false, jsonSchema: true, logprobs: true, vision: false, reasoning: false, choices: 4 },
    });
  });

  test("answers", async () => {
    const { text, reason, finish } = await ask({});
    expect(text).toContain("Paris");
    expect(reason).toBe("stop");
    expect(finish?.usage).toMatchObject({ promptTokens: 27, estimated: false });
    expect(finish?.usage.completionTokens).toBeGreaterThan(1);
  });

  test("reuses an evaluated prefix", async () => {
    await ask({});
    const { finish } = await ask({});
    expect(finish?.usage.cachedTokens).toBeGreaterThan(20);
  });

  test("samples the same text with the same seed", async () => {
    const [one, two, three] = [await ask(seeded(5)), await ask(seeded(5)), await ask(seeded(6))];
    expect(two.text).toBe(one.text);
    expect(three.text).not.toBe(one.text);
  });

  test("returns several choices and counts the tokens of all", async () => {
    const sampling = { temperature: 1, seed: 3, maxTokens: 12 };
    const one = await ask(sampling);
    const { finish, events } = await ask({ ...sampling, choices: 3 });
    const choices = events.flatMap((event) => ("choice" in event ? [event.choice] : []));
    expect(new Set(choices)).toEqual(new Set([0, 1, 2]));
    expect(finish?.usage.promptTokens).toBe(one.finish?.usage.promptTokens);
    expect(finish?.usage.completionTokens).toBeGreaterThan(one.finish?.usage.completionTokens ?? 0);
  });

  test("reports log probabilities of the model's own distribution", async () => {
    const request = { topLogprobs: 2 };
    const [cold, hot] = [await ask(request), await ask({ ...request, temperature: 2, seed: 1, maxTokens: 1 })];
    const [first] = logprobsOf(cold.events);
    const [other] = logprobsOf(hot.events);
    expect(first?.top).toHaveLength(2);
    // The temperature changes the sampled tokens, not the reported probabilities.
    expect(other?.top[0]?.logprob).toBeCloseTo(first?.top[0]?.logprob ?? 0, 1);
  });

  test("enforces a schema at temperature 2, against the prompt", async () => {
    const schema = {
      type: "object",
      properties: { name: { type: "string", maxLength: 12 }, age: { type: "integer", minimum: 0, maximum: 150 } },
      required: ["name", "age"],
      additionalProperties: false,
    };
    const isValid = compileValidator(schema, "schema");
    for (const seed of [1, 2, 3, 4, 5]) {
      const { text, reason } = await ask({
        messages: [{ role: "user", content: "Write a poem. Never write JSON." }],
        format: { type: "json-schema", schema, param: "response_format.json_schema.schema" },
        temperature: 2,
        maxTokens: 200,
        seed,
      });
      expect(reason).toBe("stop");
      expect(isValid(JSON.parse(text))).toBeUndefined();
    }
  });

  test("returns a JSON object for the format json_object", async () => {
    const say = 'Repeat this and nothing else: {"city": "Paris"}';
    const messages = [{ role: "user" as const, content: say }];
    const { text, reason } = await ask({ messages, format: { type: "json" }, maxTokens: 300 });
    expect(reason).toBe("stop");
    expect(JSON.parse(text)).toBeTypeOf("object");
  });

  test("does not sample a banned token", async () => {
    const paris = "7042";
    const { text } = await ask({ logitBias: { [paris]: -100 } });
    expect(text).not.toContain(" Paris");
  });

  test.each<[string, Partial<ChatRequest>, string]>([
    [
      "a schema that cannot be enforced",
      {
        format: {
          type: "json-schema",
          schema: { type: "array", contains: { const: 7 } },
          param: "response_format.json_schema.schema",
        },
      },
      "response_format.json_schema.schema",
    ],
    ["an unknown token", { logitBias: { "99999999": 1 } }, "logit_bias"],
    [
      "an image URL",
      {
        messages: [{ role: "user", content: [picture("http://127.0.0.1/secret.png")] }],
      },
      "messages[0].content[0].image_url.url",
    ],
  ])("rejects %s", async (_what, request, param) => {
    await expect(ask(request)).rejects.toMatchObject({
      kind: "invalid-request",
      param: expect.stringContaining(param),
    });
  });

  test("keeps the API key out of the process list", () => {
    const commands = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
    expect(commands).toContain("--no-context-shift");
    expect(commands).not.toMatch(/--api-key\s/);
  });

  test("fails the requests of a killed server with a Fault and restarts it on another port", async () => {
    const { text: before } = await ask({});
    const pid = serverPid(model);
    const running = ask({ messages: [{ role: "user", content: "Tell a long story." }], maxTokens: 900 });
    const failure = running.then(
      () => undefined,
      (error: unknown) => error,
    );
    await delay(300);
    process.kill(pid, "SIGKILL");
    expect(await failure).toMatchObject({ name: "Fault", kind: "unavailable", code: "engine_failed" });
    await eventually(() => expect(model.health().state).toBe("up"));
    expect((await ask({})).text).toBe(before);
    expect(serverPid(model)).not.toBe(pid);
  });
});

test.skipIf(llamaServerBinary === undefined)("reports llama-server's last output when it does not start", async () => {
  await expect(openLlamaServer({ options: ["--no-such-option"] })).rejects.toThrow(/--no-such-option/);
});

test.skipIf(llamaServerBinary === undefined)("leaves no process after close", async () => {
  const model = await openLlamaServer();
  const pid = serverPid(model);
  await model.close();
  expect(isRunning(pid)).toBe(false);
  expect(model.health().state).toBe("failed");
});

function seeded(seed: number): Partial<ChatRequest> {
  return { messages: [{ role: "user", content: "Tell a story." }], temperature: 1.5, maxTokens: 16, seed };
}

function picture(url: string): ContentPart {
  const at = "messages[0].content[0]";
  return { type: "image", url, param: { type: `${at}.type`, url: `${at}.image_url.url` } };
}

function logprobsOf(events: readonly ChatEvent[]): TokenLogprob[] {
  return events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
}

/** PID of the llama-server whose parent is a child of this test's process. */
function serverPid(model: ChatModel): number {
  expect(model.task).toBe("chat");
  const pids = execFileSync("pgrep", ["-f", "--", "--no-context-shift"], { encoding: "utf8" }).trim().split("\n");
  const ours = pids.map(Number).find((pid) => isGrandchild(pid));
  if (ours === undefined) throw new Error("no llama-server of this test runs");
  return ours;
}

function isGrandchild(pid: number): boolean {
  try {
    return parentOf(parentOf(pid)) === process.pid;
  } catch {
    return false;
  }
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
