import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openAiCompatibleSettings } from "./settings.ts";

const parse = (value: object) => openAiCompatibleSettings.parse(value);

test("fills in defaults and hides secrets", () => {
  const settings = parse({
    base_url: "http://10.0.0.5:8000/v1//",
    api_key: "sk-secret",
    headers: { "X-Team": "blue" },
  });
  expect(settings).toMatchObject({
    baseUrl: "http://10.0.0.5:8000/v1",
    connectTimeoutSeconds: 10,
    maxConcurrency: undefined,
  });
  expect(settings.apiKey?.reveal()).toBe("sk-secret");
  expect(JSON.stringify(settings)).not.toMatch(/sk-secret|blue/);
});

const WRONG: [problem: RegExp, value: object][] = [
  [/base_url/, {}],
  [/is not a URL/, { base_url: "10.0.0.5" }],
  [/must begin with http/, { base_url: "ftp://10.0.0.5/v1" }],
  [/must not contain a user name/, { base_url: "http://me:pass@10.0.0.5/v1" }],
  [/fragment/, { base_url: "http://10.0.0.5/v1#x" }],
  [/is set by Parlance itself/, { base_url: "http://a/v1", headers: { Host: "b" } }],
  [/is never forwarded/, { base_url: "http://a/v1", forward_headers: ["Authorization"] }],
  [/is not a header name/, { base_url: "http://a/v1", forward_headers: ["x-*-y"] }],
  [/line break/, { base_url: "http://a/v1", headers: { "x-a": "b\r\nc: d" } }],
  [/must be set together/, { base_url: "http://a/v1", tls: { key_file: "/k.pem" } }],
  [/either dns or file/, { base_url: "http://a/v1", endpoints: {} }],
  [/either dns or file/, { base_url: "http://a/v1", endpoints: { dns: "a", file: "b" } }],
  [/not an IP address/, { base_url: "http://a/v1", endpoints: { dns: "a", nameservers: ["dns.test"] } }],
  [/together with proxy/, { base_url: "http://a/v1", endpoints: { dns: "a" }, proxy: "http://b" }],
  [/proxy/, { base_url: "http://a/v1", proxy: "not a url" }],
  [/max_concurrency/, { base_url: "http://a/v1", max_concurrency: 0 }],
  [/first_byte_timeout_seconds/, { base_url: "http://a/v1", first_byte_timeout_seconds: 3_000_000 }],
  [/unknown_field/, { base_url: "http://a/v1", unknown_field: 1 }],
];

test.each(WRONG)("rejects %s", (problem, value) => {
  const { error } = openAiCompatibleSettings.safeParse(value);
  expect(z.prettifyError(error as z.ZodError)).toMatch(problem);
});

describe("a JSON Schema for editors", () => {
  test("is derived from the settings", () => {
    const schema = z.toJSONSchema(openAiCompatibleSettings, { io: "input" });
    expect(Object.keys(schema.properties ?? {})).toContain("first_byte_timeout_seconds");
    expect(schema.required).toEqual(["base_url"]);
  });
});
