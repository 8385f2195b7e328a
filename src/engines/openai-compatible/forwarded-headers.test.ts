import { expect, test } from "vitest";
import { forwardedHeaders } from "./forwarded-headers.ts";

const sent = {
  authorization: "Bearer sk-caller",
  cookie: "a=b",
  host: "parlance",
  "content-length": "7",
  traceparent: "00-abc",
  "x-team": "blue",
  "x-internal-cost": "9",
  "x-list": ["a", "b"],
};

test("nothing is forwarded unless it is named", () => {
  expect(forwardedHeaders({ forward: [], strip: [] }, sent)).toEqual({});
  expect(forwardedHeaders({ forward: ["traceparent"], strip: [] }, sent)).toEqual({ traceparent: "00-abc" });
});

test("an ending is left open by *, and what is to be stripped stays behind", () => {
  const rules = { forward: ["x-*"], strip: ["x-internal-*"] };
  expect(forwardedHeaders(rules, sent)).toEqual({ "x-team": "blue", "x-list": "a, b" });
});

test("the caller's key, cookies and connection are never forwarded", () => {
  expect(Object.keys(forwardedHeaders({ forward: ["*"], strip: [] }, sent)).sort()).toEqual([
    "traceparent",
    "x-internal-cost",
    "x-list",
    "x-team",
  ]);
});
