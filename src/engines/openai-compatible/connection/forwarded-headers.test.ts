import { expect, test } from "vitest";
import { forwardedHeaders } from "./forwarded-headers.ts";

const sent = {
  authorization: "Bearer sk-caller",
  "x-api-key": "sk-caller",
  "api-key": "sk-caller",
  "x-goog-api-key": "sk-caller",
  "sec-websocket-protocol": "realtime, openai-insecure-api-key.sk-caller",
  cookie: "a=b",
  host: "parlance",
  "content-length": "7",
  traceparent: "00-abc",
  "x-team": "blue",
  "x-internal-cost": "9",
  "x-list": ["a", "b"],
};

test("forwards no headers by default", () => {
  expect(forwardedHeaders({ forward: [], strip: [] }, sent)).toEqual({});
  expect(forwardedHeaders({ forward: ["traceparent"], strip: [] }, sent)).toEqual({ traceparent: "00-abc" });
});

test("matches prefixes with *, and omits stripped headers", () => {
  const rules = { forward: ["x-*"], strip: ["x-internal-*"] };
  expect(forwardedHeaders(rules, sent)).toEqual({ "x-team": "blue", "x-list": "a, b" });
});

test("never forwards the caller's key, cookies and connection headers", () => {
  expect(Object.keys(forwardedHeaders({ forward: ["*"], strip: [] }, sent)).sort()).toEqual([
    "traceparent",
    "x-internal-cost",
    "x-list",
    "x-team",
  ]);
});
