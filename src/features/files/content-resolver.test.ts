/** The resolver with real downloads from servers on loopback, which its guard allows here. */

import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Caller } from "../../contracts/caller.ts";
import { Fault } from "../../kernel/faults.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import { ContentResolver, type ContentResolverOptions } from "./content-resolver.ts";

const guard = new OutgoingGuard({ reach: "private" });
let server: Server;
let origin: string;
let answer: RequestListener;
let open = 0;
let mostOpen = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once("close", () => {
      open -= 1;
    });
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  mostOpen = 0;
  answer = (request, response) => response.end(`content of ${request.url}`);
});
afterAll(async () => {
  await guard.close();
  server.closeAllConnections();
  server.close();
});

const CALLER = { projectId: "proj_1", organizationId: "org_1" } as Caller;

/** Models read media, and the project has no files. */
function resolverOf(options: Partial<ContentResolverOptions> = {}): ContentResolver {
  return new ContentResolver({
    inference: { models: { mayReadMedia: () => true } },
    files: {
      find: async () => {
        throw new Fault("not-found", "No such File object.");
      },
      read: async () => [] as never,
    },
    policy: "public",
    guard,
    maxBytes: 1000,
    ...options,
  });
}

const messageOf = (...urls: string[]) => [
  { role: "user", content: urls.map((url) => ({ type: "input_image", image_url: url })) },
];
const resolve = (resolver: ContentResolver, items: object[], signal = new AbortController().signal) =>
  resolver.inItems({ caller: CALLER, model: "m" }, items, { signal, hold: () => {} });

test("sends what an address refers to, each address once", async () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  answer = (_request, response) => response.setHeader("content-type", "text/plain").end(png);
  const items = messageOf(`${origin}/a.png`);
  const [item] = (await resolve(resolverOf(), items)) as ReturnType<typeof messageOf>;
  expect(item?.content[0]?.image_url).toBe(`data:image/png;base64,${png.toString("base64")}`);
  expect(items).toEqual(messageOf(`${origin}/a.png`));
});

test("leaves addresses to upstreams under allow, and refuses them under refuse", async () => {
  const items = messageOf("http://169.254.169.254/latest");
  expect(await resolve(resolverOf({ policy: "allow" }), items)).toEqual(items);
  const refused = { kind: "invalid-request", param: "input[0].content[0].image_url", code: "unsupported_value" };
  await expect(resolve(resolverOf({ policy: "refuse" }), items)).rejects.toMatchObject(refused);
});

test("counts a request before it reads anything, and not for what it leaves to upstreams", async () => {
  let requests = 0;
  answer = (_request, response) => {
    requests += 1;
    response.end();
  };
  const refuse = async () => {
    throw new Fault("request-rate-limited", "The limit is reached.");
  };
  const { signal } = new AbortController();
  const items = messageOf(`${origin}/a`);
  const read = (policy: "allow" | "public") =>
    resolverOf({ policy }).inItems({ caller: CALLER, model: "m" }, items, { signal, hold: () => {}, admit: refuse });
  await expect(read("public")).rejects.toMatchObject({ kind: "request-rate-limited" });
  expect(requests).toBe(0);
  expect(await read("allow")).toEqual(items);
});

test("does not read what only local models would get", async () => {
  const inference = { models: { mayReadMedia: () => false } };
  const items = messageOf("http://169.254.169.254/latest");
  expect(await resolve(resolverOf({ inference }), items)).toBe(items);
});

test.each([
  ["a redirect to metadata", (() => ({ location: "http://169.254.169.254/" })) as () => object, 302],
  ["an error", () => ({}), 404],
])("names the field for %s", async (_what, headers, status) => {
  answer = (_request, response) => response.writeHead(status, headers() as never).end();
  const items = messageOf(`${origin}/a`);
  const failure = { kind: "invalid-request", param: "input[0].content[0].image_url", code: "invalid_url" };
  await expect(resolve(resolverOf(), items)).rejects.toMatchObject(failure);
});

test("bounds the bytes of all content together", async () => {
  answer = (_request, response) => response.end("x".repeat(400));
  const two = messageOf(`${origin}/a`, `${origin}/b`);
  await resolve(resolverOf(), two);
  const three = messageOf(`${origin}/a`, `${origin}/b`, `${origin}/c`);
  await expect(resolve(resolverOf(), three)).rejects.toThrow(/more than 1000 bytes|larger than \d+ bytes/);
});

test("bounds the number of references and of downloads at the same time", async () => {
  const urls = (count: number) => Array.from({ length: count }, (_, index) => `${origin}/${index}`);
  await expect(resolve(resolverOf(), messageOf(...urls(101)))).rejects.toThrow("more than 100 files and addresses");
  answer = (_request, response) => void setTimeout(() => response.end("late"), 20);
  await resolve(resolverOf({ maxBytes: 10_000 }), messageOf(...urls(40)));
  expect(mostOpen).toBeGreaterThan(1);
  expect(mostOpen).toBeLessThanOrEqual(8);
});

test("does not let the slow servers of one project delay another", async () => {
  const resolver = resolverOf();
  answer = (request, response) => void (request.url === "/slow" || response.end("fast"));
  const leaving = new AbortController();
  const slow = resolve(resolver, messageOf(...Array<string>(8).fill(`${origin}/slow`)), leaving.signal);
  const other = { ...CALLER, projectId: "proj_2" } as Caller;
  const { signal } = new AbortController();
  const reading = { signal, hold: () => {} };
  const items = await resolver.inItems({ caller: other, model: "m" }, messageOf(`${origin}/fast`), reading);
  expect(JSON.stringify(items)).toContain("base64");
  leaving.abort(new Fault("client-left", "The client left."));
  await expect(slow).rejects.toMatchObject({ kind: "client-left" });
  await expect.poll(() => open).toBe(0);
});

test("says which file the project lacks", async () => {
  const items = [{ role: "user", content: [{ type: "input_file", file_id: "file-other" }] }];
  const failure = { kind: "invalid-request", param: "input[0].content[0].file_id" };
  await expect(resolve(resolverOf({ policy: "allow" }), items)).rejects.toMatchObject(failure);
});
