/** Requests of a few bytes that name stored megabytes: bounded in memory, disk and time. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { mainThreadMs } from "../support/service/main-thread-ms.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const config = `
builtin_models: false
models:
  - { id: m, task: chat, deployments: [{ engine: scripted, abilities: { tools: true, json_schema: true }, context_window: 1000000, replies: [{ text: Hello. }] }] }
`;
const MEGABYTE = "word ".repeat(200_000);
const user = (content: string) => ({ role: "user", content });

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ config });
});
afterAll(() => service.stop());

async function post(path: string, body: unknown) {
  const response = await service.post(path, body);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function newConversation(...items: unknown[]): Promise<string> {
  const { status, body } = await post("/v1/conversations", { items });
  expect(status).toBe(200);
  return body.id as string;
}

async function listItems(conversation: string, query: string) {
  const response = await service.fetch(`/v1/conversations/${conversation}/items?${query}`);
  return (await response.json()) as { data: { id: string }[]; has_more: boolean };
}

test("refuses references that repeat one large item until it exceeds a request's size", async () => {
  const conversation = await newConversation(user(MEGABYTE));
  const { data } = await listItems(conversation, "limit=1");
  const references = Array.from({ length: 100 }, () => ({ type: "item_reference", id: data[0]?.id }));
  const refused = { status: 400, body: { error: { param: "input", code: "context_length_exceeded" } } };
  expect(await post("/v1/responses", { model: "m", input: references })).toMatchObject(refused);
  expect(await post("/v1/responses/input_tokens", { model: "m", input: references })).toMatchObject(refused);
  // Three megabytes can be read, but are not stored.
  const input = references.slice(0, 3);
  expect(await post("/v1/responses", { model: "m", input })).toMatchObject({ status: 200, body: { store: false } });
  expect(await post("/v1/responses", { model: "m", input, background: true })).toMatchObject({ status: 400 });
  expect(await post("/v1/conversations", { items: input })).toMatchObject({ status: 400 });
});

test("refuses more references than a database query takes parameters", async () => {
  const input = Array.from({ length: 33_000 }, (_, index) => ({ type: "item_reference", id: `msg_${index}` }));
  expect(await post("/v1/responses", { model: "m", input })).toMatchObject({
    status: 400,
    body: { error: { param: "input", code: "array_above_max_length" } },
  });
});

test("refuses conversation items that are too large to be encrypted without a delay for others", async () => {
  const large = { items: [user(MEGABYTE.repeat(3))] };
  const refused = { status: 400, body: { error: { param: "items" } } };
  expect(await post("/v1/conversations", large)).toMatchObject(refused);
  const conversation = await newConversation(user("Hi."));
  expect(await post(`/v1/conversations/${conversation}/items`, large)).toMatchObject(refused);
});

test.each([
  ["instructions", { instructions: MEGABYTE.repeat(2) }],
  ["tools", { tools: [{ type: "function", name: "f", parameters: { description: MEGABYTE.repeat(2) } }] }],
  ["text.format", { text: { format: { type: "json_schema", name: "a", schema: { [MEGABYTE.repeat(2)]: {} } } } }],
  ["half of instructions and of input", { instructions: MEGABYTE, input: MEGABYTE }],
])("answers large %s without storing them, and refuses them in the background", async (_name, fields) => {
  const request = { model: "m", input: "Hi", ...fields };
  expect(await post("/v1/responses", request)).toMatchObject({ status: 200, body: { store: false } });
  const message = expect.stringMatching(/'input'.*'instructions'.*2000000 characters.*leave out 'background'/);
  const refused = { status: 400, body: { error: { param: "background", message } } };
  expect(await post("/v1/responses", { ...request, background: true })).toMatchObject(refused);
});

test("adds the items of a response with large instructions to its conversation", async () => {
  const conversation = await newConversation();
  const request = { model: "m", input: "Hi", conversation, instructions: MEGABYTE.repeat(2) };
  expect(await post("/v1/responses", request)).toMatchObject({ status: 200, body: { store: false } });
  expect((await listItems(conversation, "order=asc")).data).toHaveLength(2);
});

test("ends a page of large items early, and lists them all page by page", async () => {
  const conversation = await newConversation(user(`first ${MEGABYTE}`));
  for (let index = 0; index < 6; index += 1) {
    const added = await post(`/v1/conversations/${conversation}/items`, { items: [user(`${index} ${MEGABYTE}`)] });
    expect(added.status).toBe(200);
  }
  const seen: string[] = [];
  const pages: number[] = [];
  for (let after = ""; ; ) {
    const page = await listItems(conversation, `order=asc&limit=100${after && `&after=${after}`}`);
    pages.push(page.data.length);
    seen.push(...page.data.map(({ id }) => id));
    after = seen.at(-1) ?? "";
    if (!page.has_more) break;
  }
  expect(new Set(seen).size).toBe(7);
  expect(pages.length).toBeGreaterThan(1);
  expect(Math.max(...pages)).toBeLessThan(5);
});

test.skipIf(process.platform !== "linux")(
  "continues twenty large chains at once and leaves another request its turns",
  async () => {
    let previous: unknown;
    // Together less than the memory that one project gets.
    for (let index = 0; index < 4; index += 1) {
      const input = [user(MEGABYTE)];
      ({ id: previous } = (await post("/v1/responses", { model: "m", input, previous_response_id: previous })).body);
    }
    const count = () =>
      post("/v1/responses/input_tokens", { model: "m", input: "And?", previous_response_id: previous });
    const counted = Promise.all(Array.from({ length: 20 }, count));
    const longest = { cpuMs: 0 };
    let isDone = false;
    const probe = (async () => {
      while (!isDone) {
        const before = mainThreadMs(service);
        await (await service.fetch("/health/live")).arrayBuffer();
        longest.cpuMs = Math.max(longest.cpuMs, mainThreadMs(service) - before);
      }
    })();
    for (const { status } of await counted) expect(status).toBe(200);
    isDone = true;
    await probe;
    // Without turns, the twenty reads followed each other: one to three seconds.
    expect(longest.cpuMs).toBeLessThan(700);
  },
);
