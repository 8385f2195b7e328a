import { expect, test } from "vitest";
import { describeUnknownKey } from "./unknown-key.ts";

test.each([
  ["trusted_proxies", "is set as server.trusted_proxies"],
  ["database_url", "is set by the environment variable DATABASE_URL"],
  ["tracing", "is not implemented in this version"],
  ["modle", "is not a known key; did you mean model?"],
  ["wholly_unlike", "is not a known key; known here: model, task"],
])("describes the unknown key %s: %s", (key, message) => {
  expect(describeUnknownKey(key, ["model", "task"])).toBe(message);
});

test("names the new name of a renamed key", () => {
  expect(describeUnknownKey("rest_seconds", ["failures", "cooldown_seconds"])).toBe("was renamed to cooldown_seconds");
});
