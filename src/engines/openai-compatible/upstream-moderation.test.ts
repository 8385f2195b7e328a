import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { createLogger } from "../../kernel/logger.ts";
import { Connections } from "./connection/connections.ts";
import { openAiCompatibleSettings } from "./settings.ts";
import { UpstreamModeration } from "./upstream-moderation.ts";

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const until = new AbortController().signal;
const RESULT = {
  flagged: true,
  categories: { violence: true, illicit: null, sexual: false },
  category_scores: { violence: 0.9, illicit: null, sexual: 0.01 },
  category_applied_input_types: { violence: ["text", "image"], sexual: [] },
};

/** Opens a model whose upstream responds with the result of `answer` for each request body. */
async function opened(
  answer: (body: { input: unknown }) => { status?: number; body: unknown },
  { catalogId, ...named }: { catalogId: string; model?: string } = {
    catalogId: "omni",
    model: "omni-moderation-latest",
  },
) {
  const received: Array<{ path: string | undefined; body: Record<string, unknown> }> = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Record<string, unknown> & { input: unknown };
    received.push({ path: request.url, body });
    const { status = 200, body: given } = answer(body);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(given));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const base_url = `http://127.0.0.1:${port}/v1`;
  const settings = openAiCompatibleSettings.parse({ base_url, ...named });
  const connections = await Connections.open(settings);
  const logger = createLogger("silent");
  const model = new UpstreamModeration({ name: "omni", catalogId, settings, connections, logger });
  closers.unshift(() => model.close());
  return { model, received };
}

const text = (each: string) => ({ text: each, images: [] });

test("sends all texts in one request and returns the upstream's verdicts", async () => {
  const { model, received } = await opened(() => ({ body: { results: [RESULT, { ...RESULT, flagged: false }] } }));
  const [first] = await model.moderate([text("a"), text("b")], until);
  expect(received).toEqual([{ path: "/v1/moderations", body: { model: "omni-moderation-latest", input: ["a", "b"] } }]);
  expect(first).toEqual({
    scores: { violence: 0.9, sexual: 0.01 },
    flags: { violence: true, sexual: false },
    appliedTo: { violence: ["text", "image"], sexual: [] },
  });
});

test("forwards images", async () => {
  const { model, received } = await opened(() => ({ body: { results: [RESULT] } }));
  await model.moderate([{ text: "look", images: ["data:image/png;base64,AA"] }], until);
  expect(received[0]?.body.input).toEqual([
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
  ]);
});

test("sends the requested model behind a wildcard", async () => {
  const { model, received } = await opened(() => ({ body: { results: [RESULT] } }), { catalogId: "openai/*" });
  await model.moderate([text("a")], until, { model: "openai/omni-moderation-2024-09-26", project: "one" });
  expect(received[0]?.body.model).toBe("omni-moderation-2024-09-26");
});

test("flags what the upstream flags without a category", async () => {
  const categories = { violence: false, sexual: false };
  const { model } = await opened(() => ({ body: { results: [{ ...RESULT, categories }] } }));
  const [verdict] = await model.moderate([text("a")], until);
  expect(verdict?.flags).toEqual({ violence: true, sexual: false });
});

test.each<[what: string, answer: { status?: number; body: unknown }, kind: string]>([
  ["too few results", { body: { results: [] } }, "answer-unfit"],
  ["something else", { body: { hello: 1 } }, "upstream-failed"],
  ["a failure", { status: 500, body: { error: { message: "oops" } } }, "upstream-failed"],
  ["a refusal", { status: 400, body: { error: { message: "no images" } } }, "invalid-request"],
  ["too many requests", { status: 429, body: {} }, "request-rate-limited"],
])("reports %s", async (_what, answer, kind) => {
  const { model } = await opened(() => answer);
  await expect(model.moderate([text("a")], until)).rejects.toMatchObject({ kind });
});
