import { describe, expect, test } from "vitest";
import { faultOfConfigText, loadConfigText } from "../../../test/support/service/load-config-text.ts";

describe("limits", () => {
  test.each([
    ["negative", "-1"],
    ["fractional", "0.5"],
    ["too large", "1000000001"],
    ["infinite", "1e400"],
    ["not a number", "many"],
    ["a number in quotes", '"10"'],
  ])("rejects a limit that is %s, with its path", async (_what, value) => {
    for (const scope of ["project_model", "organization", "key"]) {
      for (const name of ["requests_per_minute", "requests_per_day", "tokens_per_minute", "concurrent_requests"]) {
        const fault = await faultOfConfigText(`limits: { ${scope}: { ${name}: ${value} } }`);
        expect(fault).toContain(`limits.${scope}.${name}`);
      }
    }
  });

  test("accepts zero and the maximum", async () => {
    const { config } = await loadConfigText(
      "limits: { key: { requests_per_minute: 0, tokens_per_minute: 1000000000 } }",
    );
    expect(config.limits.key).toMatchObject({ requestsPerMinute: 0, tokensPerMinute: 1_000_000_000 });
    expect(config.limits.organization.requestsPerMinute).toBeUndefined();
  });

  test.each([
    ["limits: { failed_authentications_per_minute: 0 }", "limits.failed_authentications_per_minute"],
    ["limits: { failed_authentications_per_minute: 2.5 }", "limits.failed_authentications_per_minute"],
    ["limits: { on_counters_unavailable: panic }", "limits.on_counters_unavailable"],
    ["limits: { keys: { requests_per_minute: 1 } }", "limits"],
    ["server: { trusted_proxies: [10.0.0.0/33] }", "server.trusted_proxies[0]"],
    ['server: { trusted_proxies: ["*"] }', "server.trusted_proxies[0]"],
    ["server: { trusted_proxies: 10.0.0.1 }", "server.trusted_proxies"],
  ])("rejects %s", async (text, path) => {
    expect(await faultOfConfigText(text)).toContain(path);
  });
});
