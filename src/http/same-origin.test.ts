import fastify from "fastify";
import { expect, test } from "vitest";
import { refuseOtherSites } from "./same-origin.ts";

const PUBLIC = "https://ai.example.com";

/** Status of a change that a page asks for. */
async function change(headers: Record<string, string>, publicUrl?: string): Promise<number> {
  const app = fastify({ trustProxy: ["127.0.0.1"] });
  app.decorate("publicUrl", publicUrl);
  app.post("/", async (request) => {
    refuseOtherSites(request);
    return {};
  });
  app.setErrorHandler(async (_error, _request, reply) => reply.code(403).send({}));
  const answer = await app.inject({ method: "POST", url: "/", headers });
  await app.close();
  return answer.statusCode;
}

const OWN = { host: "ai.example.com" };
const FORWARDED = { ...OWN, "x-forwarded-proto": "https" };
const PLAIN = "http://ai.example.com";
const IN_BROWSER = { "sec-fetch-site": "same-origin" };

test.each([
  ["a page of the service", { ...OWN, origin: PLAIN }, undefined, 200],
  ["a page of another scheme", { ...OWN, origin: PUBLIC }, undefined, 403],
  ["a page behind a trusted proxy", { ...FORWARDED, origin: PUBLIC }, undefined, 200],
  ["a plain page of a host behind a trusted proxy", { ...FORWARDED, origin: PLAIN }, undefined, 403],
  [
    "a plain page that an old browser takes for the same site",
    { ...FORWARDED, ...IN_BROWSER, origin: PLAIN },
    undefined,
    403,
  ],
  ["a page of the public address behind another proxy", { ...OWN, origin: PUBLIC }, PUBLIC, 200],
  ["a plain page of the public address", { ...OWN, ...IN_BROWSER, origin: PLAIN }, PUBLIC, 403],
  ["a page of another address of the service", { host: "10.0.0.7:8080", origin: "http://10.0.0.7:8080" }, PUBLIC, 200],
  [
    "a page whose browser proves its origin behind another proxy",
    { ...OWN, ...IN_BROWSER, origin: PUBLIC },
    undefined,
    200,
  ],
  [
    "a page of another host whose browser errs",
    { ...OWN, ...IN_BROWSER, origin: "https://attacker.example" },
    PUBLIC,
    403,
  ],
  ["a page of another port", { ...OWN, origin: "http://ai.example.com:81" }, undefined, 403],
  ["a page without an origin", { ...OWN, origin: "null" }, undefined, 403],
])("answers %s", async (_name, headers, publicUrl, status) => {
  expect(await change(headers as Record<string, string>, publicUrl)).toBe(status);
});
