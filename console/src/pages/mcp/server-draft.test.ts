import { expect, test } from "vitest";
import { NEW_SERVER, toDraft, toValue } from "./server-draft.ts";

test.each([
  { name: "wiki", url: "https://mcp.example.com/mcp" },
  { name: "wiki", url: "https://a/", headers: { authorization: "Bearer a:b", "x-token": "[redacted]" } },
  { name: "tracker", url: "https://a/", oauth: {}, require_approval: "always" },
  { name: "archive", url: "https://a/", oauth: { issuer: "https://b/", client_secret: "[redacted]", client_id: "c" } },
  { name: "files", command: ["npx", "files"], environment: { LOG: "[redacted]" }, timeout_seconds: 5 },
  { name: "wiki", url: "https://a/", access: [{ projects: ["proj_1"], tools: ["search"] }], prices: { search: "0.1" } },
])("keeps all settings of %j", (value) => {
  expect(toValue(toDraft(value))).toEqual(value);
});

test("leaves out accounts that were turned off, with their details", () => {
  const draft = toDraft({ name: "archive", url: "https://a/", oauth: { issuer: "https://b/" } });
  expect(toValue({ ...draft, hasAccounts: false })).toEqual({ name: "archive", url: "https://a/" });
});

test.each([
  [{ headers: "authorization" }, "Headers: write each line"],
  [{ headers: ": value" }, "Headers: write each line"],
  [{ more: "{" }, "not a JSON object"],
  [{ more: "[]" }, "not a JSON object"],
])("says what to correct in %j", (change, message) => {
  expect(() => toValue({ ...NEW_SERVER, name: "wiki", ...change })).toThrow(message);
});
