/** POST /v1/completions through OpenAI's official client, on the scripted engine and behind an upstream. */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const writer = `
  - id: writer
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments:
      - engine: scripted
        abilities: { logprobs: true, choices: 8, infill: true }
        replies:
          - match: count
            text: "one two three four"
          - match: several
            texts: ["first", "second second", "third"]
          - match: breaks
            text: "one two three"
            fail_after_tokens: 2
            fail_with: { kind: upstream-failed, message: "Down." }
          - match: slow
            text: "${"word ".repeat(200)}"
            delay_ms_per_token: 50
        echo: true
`;

let upstream: Service;
let service: Service;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startService({ config: `builtin_models: false\nmodels:${writer}` });
  const deployment = (abilities: object) => deploymentAt(upstream, "writer", { abilities });
  service = await startService({
    config: `
builtin_models: false
models:${writer}
  - { id: far, task: chat, price: { prompt: "0.001", completion: "0.01" }, deployments: [${deployment({})}] }
  - { id: chat-only, task: chat, deployments: [${deployment({ completions: false })}] }
  - { id: plain, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: short, task: chat, deployments: [{ engine: scripted, echo: true, context_window: 8 }] }
  - id: moderator
    task: moderation
    deployments: [${deploymentAt(upstream, "none")}]
`,
  });
  client = service.client({ maxRetries: 0 });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

type Params = OpenAI.CompletionCreateParamsNonStreaming;

interface Streamed {
  texts: string[];
  reasons: (string | null)[];
  chunks: OpenAI.Completion[];
}

async function stream(body: Params): Promise<Streamed> {
  const result: Streamed = { texts: [], reasons: [], chunks: [] };
  for await (const chunk of await client.completions.create({ ...body, stream: true })) {
    result.chunks.push(chunk);
    for (const { index, text, finish_reason: reason } of chunk.choices) {
      result.texts[index] = (result.texts[index] ?? "") + text;
      result.reasons[index] = reason ?? result.reasons[index] ?? null;
    }
  }
  return result;
}

const lastRequest = () => service.log().findLast(({ msg }) => msg === "request");

describe.each(["writer", "far"])("the model %s", (model) => {
  test("continues a text, with usage", async () => {
    const completion = await client.completions.create({ model, prompt: "Please count" });
    expect(completion).toMatchObject({
      object: "text_completion",
      model,
      choices: [{ text: "one two three four", index: 0, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 },
    });
    expect(completion.id).toMatch(/^cmpl-/);
  });

  test("limits an answer to 16 tokens by default", async () => {
    const { choices } = await client.completions.create({ model, prompt: "word ".repeat(30) });
    expect(choices[0]).toMatchObject({ finish_reason: "length" });
    expect(choices[0]?.text.trim().split(" ")).toHaveLength(16);
  });

  test("streams the same text in chunks, and usage on request", async () => {
    const body = { model, prompt: "Please count", stream_options: { include_usage: true } };
    const { texts, reasons, chunks } = await stream(body);
    expect(texts).toEqual(["one two three four"]);
    expect(reasons).toEqual(["stop"]);
    expect(chunks.length).toBeGreaterThan(4);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    for (const chunk of chunks) expect(chunk).toMatchObject({ object: "text_completion", model });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 4 } });
    expect((await stream({ model, prompt: "Please count" })).chunks.some(({ usage }) => usage != null)).toBe(false);
  });

  test("numbers the choices of several prompts", async () => {
    const body = { model, prompt: ["Say a", "several", "Say b"], n: 2 };
    const { choices, usage } = await client.completions.create(body);
    const expected = ["Say a", "Say a", "first", "second second", "Say b", "Say b"];
    expect(choices.map(({ index, text }) => [index, text])).toEqual(expected.map((text, index) => [index, text]));
    expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 11 });
    expect((await stream(body)).texts).toEqual(expected);
  });

  test("reads token IDs", async () => {
    const one = await client.completions.create({ model, prompt: [1, 22, 333] });
    expect(one.choices[0]?.text).toBe("1 22 333");
    const two = await client.completions.create({ model, prompt: [[1], [2, 3]] });
    expect(two.choices.map(({ text }) => text)).toEqual(["1", "2 3"]);
  });

  test("echoes the prompt before each choice", async () => {
    const body = { model, prompt: "Please count", echo: true, n: 2, max_tokens: 2 };
    const expected = ["Please countone two", "Please countone two"];
    expect((await client.completions.create(body)).choices.map(({ text }) => text)).toEqual(expected);
    expect((await stream(body)).texts).toEqual(expected);
  });

  test("scores a prompt without generating", async () => {
    const { choices, usage } = await client.completions.create({
      model,
      prompt: "a b c",
      echo: true,
      max_tokens: 0,
      logprobs: 1,
    });
    expect(choices[0]).toMatchObject({ text: "a b c", finish_reason: "length" });
    const { tokens, token_logprobs: logprobs, top_logprobs: top, text_offset: offsets } = choices[0]?.logprobs ?? {};
    expect(tokens).toEqual(["a", " b", " c"]);
    expect(logprobs?.[0]).toBeNull();
    expect(top?.[0]).toBeNull();
    expect(logprobs?.[1]).toBeCloseTo(Math.log(0.9));
    expect(Object.keys(top?.[1] ?? {})).toEqual([" b"]);
    expect(offsets).toEqual([0, 1, 3]);
    expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 0 });
  });

  test("reports log probabilities of the answer, streamed and not", async () => {
    const body = { model, prompt: "Please count", logprobs: 2, max_tokens: 2 };
    const { choices } = await client.completions.create(body);
    expect(choices[0]?.logprobs).toMatchObject({ tokens: ["one", " two"], text_offset: [0, 3] });
    expect(Object.keys(choices[0]?.logprobs?.top_logprobs?.[0] ?? {})).toHaveLength(2);
    const { chunks } = await stream(body);
    const streamed = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs ?? []);
    expect(streamed.flatMap(({ tokens = [] }) => tokens)).toEqual(["one", " two"]);
    expect(streamed.flatMap(({ text_offset = [] }) => text_offset)).toEqual([0, 3]);
  });

  test("returns the best of several answers", async () => {
    // An answer of one token has the probability 1, the others 0.9 for each token.
    const { choices, usage } = await client.completions.create({ model, prompt: "several", n: 1, best_of: 3 });
    expect(choices).toMatchObject([{ text: "first", index: 0, logprobs: null }]);
    expect(usage?.completion_tokens).toBe(4);
  });

  test("ends at a stop sequence", async () => {
    const { choices } = await client.completions.create({ model, prompt: "Please count", stop: [" three"] });
    expect(choices).toMatchObject([{ text: "one two", finish_reason: "stop" }]);
  });

  test("fills in the middle", async () => {
    const { choices, usage } = await client.completions.create({ model, prompt: "a b", suffix: "c d e" });
    expect(choices[0]?.text).toBe("a b");
    expect(usage?.prompt_tokens).toBe(4);
  });

  test("records its usage", async () => {
    const { _request_id: requestId } = await client.completions
      .create({ model, prompt: "Please count" })
      .then((completion) => completion as typeof completion & { _request_id?: string });
    await eventually(() => expect(lastRequest()).toMatchObject({ requestId, path: "/v1/completions" }));
    expect(lastRequest()).toMatchObject({ model, promptTokens: 2, completionTokens: 4, outcome: "finished" });
  });

  test("frees the slot when the client disconnects", async () => {
    const abort = new AbortController();
    const answer = await client.completions.create(
      { model, prompt: "slow", stream: true, max_tokens: 200 },
      { signal: abort.signal },
    );
    for await (const _ of answer) abort.abort();
    await eventually(() => expect(lastRequest()).toMatchObject({ path: "/v1/completions", outcome: "client-left" }));
  });

  test("reports a failure within a stream", async () => {
    await expect(stream({ model, prompt: "this breaks" })).rejects.toThrow(/Down|upstream/);
    await expect(client.completions.create({ model, prompt: "this breaks" })).rejects.toMatchObject({ status: 502 });
  });
});

describe("invalid requests", () => {
  const refuses = (body: Record<string, unknown>, expected: object) =>
    expect(client.completions.create({ model: "writer", prompt: "a", ...body } as Params)).rejects.toMatchObject(
      expected,
    );

  test.each([
    [{ prompt: undefined }, "prompt", "missing_required_parameter"],
    [{ prompt: 7 }, "prompt", "invalid_type"],
    [{ prompt: [] }, "prompt", "empty_array"],
    [{ prompt: [[]] }, "prompt", "empty_array"],
    [{ prompt: ["a", 1] }, "prompt", "invalid_type"],
    [{ prompt: [1, "a"] }, "prompt", "invalid_type"],
    [{ prompt: [-1] }, "prompt", "invalid_type"],
    [{ n: 2, best_of: 1 }, "best_of", "invalid_value"],
    [{ best_of: 2, stream: true }, "best_of", "invalid_value"],
    [{ logprobs: 21 }, "logprobs", "integer_above_max_value"],
    [{ logprobs: true }, "logprobs", "invalid_type"],
    [{ max_tokens: -1 }, "max_tokens", "integer_below_min_value"],
    [{ echo: true, suffix: "b" }, "echo", "invalid_value"],
    [{ stream_options: {} }, "stream_options", "invalid_value"],
    [{ response_format: { type: "json_object" } }, "response_format", "unsupported_value"],
    [{ max_token: 3 }, "max_token", "unknown_parameter"],
  ])("%j is refused with its field", (body, param, code) => refuses(body, { status: 400, param, code }));

  test("refuses more prompts than one request may have", () =>
    refuses({ prompt: Array.from({ length: 257 }, () => "a") }, { param: "prompt", code: "array_above_max_length" }));

  test("refuses a suffix for a model that does not fill in the middle", () =>
    refuses({ model: "plain", suffix: "b" }, { status: 400, param: "suffix", code: "unsupported_value" }));

  test("refuses log probabilities that the model does not report", () =>
    refuses({ model: "plain", logprobs: 1 }, { status: 400, param: "logprobs" }));

  test("refuses a model that answers messages only", () =>
    refuses({ model: "chat-only" }, { status: 400, param: "model", code: "unsupported_value" }));

  test("names the prompt that exceeds the context window", () =>
    refuses({ model: "short", prompt: "word ".repeat(20) }, { param: "prompt", code: "context_length_exceeded" }));

  test("does not find an unknown model or one of another task", async () => {
    await refuses({ model: "nothing" }, { status: 404, code: "model_not_found" });
    await refuses({ model: "moderator" }, { status: 400, param: "model" });
  });

  test("requires a key", async () => {
    const { status } = await service.post(
      "/v1/completions",
      { model: "writer", prompt: "a" },
      { headers: { authorization: "Bearer sk-wrong" } },
    );
    expect(status).toBe(401);
  });
});
