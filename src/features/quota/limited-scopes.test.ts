import { expect, test } from "vitest";
import type { QuotaClaim } from "../../inference/quota.ts";
import { limitedScopes } from "./limited-scopes.ts";

const LIMITS = { requestsPerMinute: 10 };
const caller = { keyId: "key", organizationId: "org", projectId: "proj", kind: "project" as const };

function claimOf(model: string, catalogId: string): QuotaClaim {
  const bound = { promptTokens: 0, completionTokens: 0, audioBytes: 0, characters: 0 };
  return { caller, model, catalogId, upperBound: () => bound, operation: "chat", charges: () => [], startedAt: 0 };
}

function keysOf(model: string, catalogId: string, set: Parameters<typeof limitedScopes>[1] = () => []): string[] {
  const scopesOf = limitedScopes({ projectModel: LIMITS, organization: {}, key: {}, user: {} }, set);
  return scopesOf(claimOf(model, catalogId)).map(({ key }) => key);
}

test("counts default limits under a wildcard per name and for all names together", () => {
  expect(keysOf("up/one", "up/*")).toEqual(["project proj up/one", "project proj up/*"]);
  expect(keysOf("up/two", "up/*")).toContain("project proj up/*");
});

test("counts default limits of a model with its own entry once", () => {
  expect(keysOf("parrot", "parrot")).toEqual(["project proj parrot"]);
});

test("counts a limit set for a wildcard for all names together only", () => {
  const none = {
    requestsPerDay: null,
    tokensPerMinute: null,
    audioMegabytesPerMinute: null,
    imagesPerMinute: null,
    concurrentRequests: null,
  };
  const set = () => [{ model: "up/*", requestsPerMinute: 5, ...none }];
  expect(keysOf("up/one", "up/*", set)).toEqual(["project proj up/*"]);
});
