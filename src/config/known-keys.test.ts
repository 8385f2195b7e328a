import { expect, test } from "vitest";
import { describeUnknownKey } from "./known-keys.ts";

test.each([
  ["trusted_proxies", "is set as server.trusted_proxies"],
  ["database_url", "is set by the environment variable DATABASE_URL"],
  ["tracing", "is not built yet in this version"],
  ["modle", "is not a known key; did you mean model?"],
  ["wholly_unlike", "is not a known key; known here: model, task"],
])("%s %s", (key, said) => {
  expect(describeUnknownKey(key, ["model", "task"])).toBe(said);
});
