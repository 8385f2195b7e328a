import { expect, test } from "vitest";
import { ApiError } from "../../api/request.ts";
import { fieldOf, NEW_SERVER, toDraft, toValue } from "./server-draft.ts";

test.each([
  { name: "wiki", url: "https://mcp.example.com/mcp" },
  { name: "wiki", url: "https://a/", headers: { authorization: "Bearer a:b", "x-token": "[redacted]" } },
  { name: "tracker", url: "https://a/", oauth: {}, require_approval: "always" },
  { name: "archive", url: "https://a/", oauth: { issuer: "https://b/", client_secret: "[redacted]", client_id: "c" } },
  { name: "pets", openapi: "https://a/openapi.json", url: "https://a/v1" },
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
  [{ headers: "authorization" }, "headers", "Headers: write each line"],
  [{ headers: ": value" }, "headers", "Headers: write each line"],
  [{ more: "{" }, "more", "not a JSON object"],
  [{ more: "[]" }, "more", "not a JSON object"],
])("says what to correct in %j", (change, field, message) => {
  expect.assertions(2);
  try {
    toValue({ ...NEW_SERVER, name: "wiki", ...change });
  } catch (failure) {
    expect((failure as Error).message).toContain(message);
    expect(fieldOf(failure as Error)).toBe(field);
  }
});

test.each([
  ["name", "name"],
  ["url", "url"],
  ["openapi", "openapi"],
  ["headers.x-token", "headers"],
  ["access[0].tools", "more"],
  ["bogus", "more"],
  ["oauth.issuer", undefined],
  [null, undefined],
])("shows an error of %j beside its field", (param, field) => {
  expect(fieldOf(new ApiError(400, "is not valid", null, param))).toBe(field);
});
