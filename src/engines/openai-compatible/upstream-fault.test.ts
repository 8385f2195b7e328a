import { expect, test } from "vitest";
import { brokenFault, retryAfterSeconds } from "./upstream-fault.ts";

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
