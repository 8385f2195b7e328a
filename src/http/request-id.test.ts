import { expect, test } from "vitest";
import { newRequestId } from "./request-id.ts";

test("generates 128 random bits for each id", () => {
  const ids = Array.from({ length: 1000 }, () => newRequestId());
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{32}$/);
});
