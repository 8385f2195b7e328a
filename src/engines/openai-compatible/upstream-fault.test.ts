import { expect, test } from "vitest";
import { brokenFault } from "./upstream-fault.ts";

const context = { deployment: "team", model: "team", upstreamModel: "m", mask: (text: string) => text };

test.each(["EMFILE", "ENFILE", "EADDRNOTAVAIL"])(
  "%s says that this service has no room, not that the upstream failed",
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
