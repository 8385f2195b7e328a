import { expect, test } from "vitest";
import { parseUpstreamError } from "./upstream-error.ts";
import { brokenFault, errorResponseFault, retryAfterSeconds } from "./upstream-fault.ts";

const context = { deployment: "team", model: "team", upstreamModel: "m", redact: (text: string) => text };

test.each(["EMFILE", "ENFILE", "EADDRNOTAVAIL"])(
  "reports %s as overload of this service, not as an upstream failure",
  (code) => {
    const error = Object.assign(new Error(`connect ${code}`), { code });
    const fault = brokenFault(new AggregateError([error]), context);
    expect(fault).toMatchObject({
      kind: "unavailable",
      code: "server_is_overloaded",
      retryAfterSeconds: 1,
      cause: expect.anything(),
    });
    expect(fault.message).not.toContain("upstream");
  },
);

test.each([
  [{ "retry-after": "7.5" }, 8],
  [{ "retry-after": "0" }, 1],
  [{ "retry-after-ms": "1200" }, 2],
  [{ "retry-after": `1${"0".repeat(400)}` }, 86_400],
  [{ "retry-after-ms": "1e300" }, 86_400],
  [{ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, 86_400],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("reads %j as %j seconds", (headers, seconds) => {
  expect(retryAfterSeconds(headers)).toBe(seconds);
});

test.each([
  ["Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 128000.", "token-rate-limited"],
  [
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
    "request-rate-limited",
  ],
  ["Too many requests", "request-rate-limited"],
])("takes a 429 that says %j as %s", (message, kind) => {
  const fault = errorResponseFault(429, parseUpstreamError({ error: { message } }), 7, context);
  const isFinal = kind === "token-rate-limited";
  expect(fault).toMatchObject({ kind, isFinal, retryAfterSeconds: isFinal ? undefined : 7 });
});
