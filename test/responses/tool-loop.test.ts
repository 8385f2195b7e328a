/** The loop of a model and tools that the service runs, with a tool that the test registers and the official client. */

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ServiceCall, ServiceToolType } from "../../src/features/tools/service-tool.ts";
import { newId } from "../../src/kernel/id.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

/** Calls that ran, in order, and what ends those that wait. */
let ran: Record<string, unknown>[] = [];
let aborted = 0;

interface AddInput {
  a?: number;
  b?: number;
  wait?: boolean | "short";
  pause?: boolean;
}

const CITATION = { type: "url_citation", url: "https://example.com", title: "Example", start_index: 0, end_index: 5 };

/** Adds numbers; `wait` hangs until the call is aborted. */
class AddCall implements ServiceCall {
  readonly #id = newId("add_");
  #arguments = "";
  #output: number | null = null;
  #error: string | null = null;

  toItem(status: string) {
    return {
      ...{ id: this.#id, type: "add_call", status, arguments: this.#arguments },
      ...{ output: this.#output, error: this.#error },
    };
  }

  begin() {
    return [{ type: "response.add_call.in_progress" }];
  }

  append(text: string) {
    this.#arguments += text;
    return [{ type: "response.add_call.delta", delta: text }];
  }

  async *run(input: Readonly<Record<string, unknown>>, { runTool }: Parameters<ServiceCall["run"]>[1]) {
    const { a = 0, b = 0, wait = false, pause = false } = input as AddInput;
    if (pause) return { type: "pause" as const };
    yield { type: "response.add_call.adding" };
    const tool = { name: "add", label: "add", pricePerCall: "0.25", timeoutMs: wait === "short" ? 20 : 60_000 };
    const { value, failure } = await runTool(tool, async (signal) => {
      ran.push(input);
      if (!wait) return a + b;
      signal.addEventListener("abort", () => {
        aborted += 1;
      });
      return new Promise<number>(() => {});
    });
    if (value === undefined) {
      this.#error = (failure as Error).message;
      yield { type: "response.add_call.failed" };
      return { type: "result" as const, text: this.#error };
    }
    this.#output = value;
    yield { type: "response.add_call.completed" };
    return { type: "result" as const, text: `sum ${value}` };
  }

  refuse(reason: string) {
    this.#error = reason;
    return [{ type: "response.add_call.failed" }];
  }
}

const ADD: ServiceToolType = {
  type: "add",
  includes: ["add_call.details"],
  serves: () => true,
  open: async (_tool, { functionName, path }) => ({
    functions: [
      {
        definition: {
          name: functionName("add"),
          description: "Adds two numbers",
          parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
          param: path,
        },
        name: "add",
        begin: () => new AddCall(),
      },
    ],
    annotate: (text) => (text.includes("Three") ? [CITATION] : []),
  }),
};

let service: InProcessService;
let client: OpenAI;
beforeAll(async () => {
  const call = (input: object, name = "add") => `{ name: ${name}, arguments: ${JSON.stringify(input)} }`;
  service = await startService({
    config: `
builtin_models: false
usage: { labels: { tools: true } }
models:
  - id: agent
    task: chat
    price: { prompt: "0.000001", completion: "0.000001" }
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "sum 3", text: "Three." }
          - { match_tool: "sum 10", tool_calls: [${call({ a: 1, b: 2 })}] }
          - { match_tool: "limit", text: "Stopped." }
          - { match_tool: "/within|JSON object/", text: "It failed." }
          - { match: "add once", text: "Let me see. ", tool_calls: [${call({ a: 1, b: 2 })}] }
          - { match: "add twice", tool_calls: [${call({ a: 4, b: 6 })}] }
          - { match: "in parallel", tool_calls: [${call({ a: 5, b: 6 })}, ${call({ a: 1, b: 2 })}] }
          - { match: "mixed", tool_calls: [${call({ a: 1, b: 2 })}, ${call({ city: "Bonn" }, "weather")}] }
          - { match: "hang", tool_calls: [${call({ wait: true })}] }
          - { match: "too slow", tool_calls: [${call({ wait: "short" })}] }
          - { match: "pause", tool_calls: [${call({ pause: true })}] }
          - { text: "No tool." }
`,
  });
  service.tools.register(ADD);
  client = new OpenAI({ apiKey: service.apiKey, baseURL: `${service.origin}/v1`, maxRetries: 0 });
});
afterAll(() => service?.stop());
beforeEach(() => {
  ran = [];
  aborted = 0;
});

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

function body(input: string, fields: object = {}): Body {
  return { model: "agent", input, tools: [{ type: "add" } as never], ...fields };
}

const typesOf = (response: OpenAI.Responses.Response) => response.output.map(({ type }) => type as string);

test("runs the call, and answers with the model's next turn and the usage of both", async () => {
  const { data: response, response: raw } = await client.responses.create(body("add once")).withResponse();

  expect(typesOf(response)).toEqual(["message", "add_call", "message"]);
  expect(response.output[1]).toMatchObject({ status: "completed", arguments: '{"a":1,"b":2}', output: 3 });
  expect(response.output_text).toBe("Let me see. Three.");
  expect(response.status).toBe("completed");
  expect(raw.headers.get("x-parlance-ignored-fields")).toBeNull();
  const single = await client.responses.create(body("hello"));
  expect(response.usage?.input_tokens).toBeGreaterThan(2 * (single.usage?.input_tokens ?? 0) - 10);
  expect(response.output[2]).toMatchObject({ content: [{ annotations: [{ type: "url_citation" }] }] });
});

test("records the turns of the model and the calls between them", async () => {
  const { data: response, response: raw } = await client.responses.create(body("add twice")).withResponse();
  expect(typesOf(response)).toEqual(["add_call", "add_call", "message"]);
  const id = raw.headers.get("x-request-id");
  const stagesOf = async () => {
    const answer = await service.inject({
      url: `/v1/organization/requests/${id}`,
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { stages = [] } = answer.json() as { stages?: { type: string; deployment: string; start_ms: number }[] };
    return stages;
  };
  await expect
    .poll(async () => (await stagesOf()).map(({ type, deployment }) => `${type} ${deployment}`))
    .toEqual([...["turn agent", "tool add", "turn agent", "tool add", "turn agent"]]);
  const starts = (await stagesOf()).map(({ start_ms }) => start_ms);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
});

test("streams items in order, each event with the position of its item", async () => {
  const stream = await client.responses.create({ ...body("in parallel"), stream: true });
  const events: Record<string, unknown>[] = [];
  for await (const event of stream) events.push(event as never);

  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  const of = (position: number) =>
    events.filter(({ output_index }) => output_index === position).map(({ type }) => String(type).slice(9));
  const call = ["output_item.added", "add_call.in_progress"];
  const ended = ["add_call.adding", "add_call.completed", "output_item.done"];
  const deltas = (types: string[]) => types.filter((type) => type !== "add_call.delta");
  expect(deltas(of(0))).toEqual([...call, ...ended]);
  expect(deltas(of(1))).toEqual([...call, ...ended]);
  expect(of(2).at(0)).toBe("output_item.added");
  expect(of(2).at(-1)).toBe("output_item.done");
  const done = events.filter(({ type }) => type === "response.output_item.done") as { item: object }[];
  const last = events.at(-1) as { type: string; response: OpenAI.Responses.Response };
  expect(last.type).toBe("response.completed");
  expect(last.response.output).toHaveLength(done.length);
  expect(events.some(({ type }) => type === "response.output_text.annotation.added")).toBe(true);
});

test("runs turn after turn until the model calls nothing", async () => {
  const response = await client.responses.create(body("add twice"));

  expect(typesOf(response)).toEqual(["add_call", "add_call", "message"]);
  expect(ran).toEqual([
    { a: 4, b: 6 },
    { a: 1, b: 2 },
  ]);
});

test("refuses calls beyond max_tool_calls, and lets the model answer without them", async () => {
  const response = await client.responses.create(body("in parallel", { max_tool_calls: 1 }));

  expect(ran).toEqual([{ a: 5, b: 6 }]);
  expect(response.output[1]).toMatchObject({ type: "add_call", error: expect.stringContaining("1 tool calls") });
  expect(response.output_text).toBe("Stopped.");
});

test("returns the caller's functions after its own calls", async () => {
  const weather = { type: "function", name: "weather", parameters: { type: "object" }, strict: false } as const;
  const response = await client.responses.create(body("mixed", { tools: [{ type: "add" }, weather] }));

  expect(typesOf(response)).toEqual(["add_call", "function_call"]);
  expect(response.output[0]).toMatchObject({ output: 3 });
  expect(response.output[1]).toMatchObject({ name: "weather", arguments: '{"city":"Bonn"}' });
});

test("forces a call once only", async () => {
  const response = await client.responses.create(body("add once", { tool_choice: { type: "add" } }));

  expect(typesOf(response)).toEqual(["message", "add_call", "message"]);
});

test("ends the response where a call has to wait for the caller", async () => {
  const response = await client.responses.create(body("pause"));

  expect(typesOf(response)).toEqual(["add_call"]);
  expect(response.status).toBe("completed");
});

test("ends a call that takes too long, and tells the model", async () => {
  const response = await client.responses.create(body("too slow"));

  expect(response.output[0]).toMatchObject({ error: "It did not answer within 0.02 seconds." });
  expect(response.output_text).toBe("It failed.");
  expect(aborted).toBe(1);
});

test("aborts a call whose caller leaves", async () => {
  const leaving = new AbortController();
  const stream = await client.responses.create({ ...body("hang"), stream: true }, { signal: leaving.signal });
  const reading = (async () => {
    for await (const event of stream) if ((event.type as string) === "response.add_call.adding") leaving.abort();
  })();
  await reading.catch(() => {});

  await expect.poll(() => aborted).toBe(1);
});

test("runs in the background, where the calls are stored with the response", async () => {
  const queued = await client.responses.create(body("add once", { background: true }));
  expect(queued.status).toBe("queued");

  await expect.poll(async () => (await client.responses.retrieve(queued.id)).status).toBe("completed");
  expect(typesOf(await client.responses.retrieve(queued.id))).toEqual(["message", "add_call", "message"]);
});

test("accepts what the tool adds to `include`", async () => {
  const response = await client.responses.create(body("hello", { include: ["add_call.details"] }));

  expect(response.output_text).toBe("No tool.");
});

test("records each call under the tool's name with its price", async () => {
  await client.responses.create(body("add once"));
  const costs = async () => {
    const from = Math.floor(Date.now() / 1000) - 86_400;
    const answer = await service.inject({
      url: `/v1/organization/costs?start_time=${from}&group_by=line_item&limit=2`,
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { data } = answer.json() as { data: { results: { line_item: string; amount: { value: number } }[] }[] };
    return data.flatMap(({ results }) => results).filter(({ line_item: item }) => item.startsWith("add"));
  };

  await expect.poll(costs).not.toEqual([]);
  const calls = (await costs()).reduce((sum, { amount }) => sum + Number(amount.value), 0);
  expect(calls % 0.25).toBe(0);
});
