/** Rate limit of wrong API keys per address, which does not affect other clients. */

import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { type InProcessService, type ServiceClient, startService } from "../support/service/service.ts";

let service: InProcessService | undefined;
afterEach(() => service?.stop());

const MODELS = "models: [{ id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }]";

async function start(server: string, environment: Record<string, string> = {}): Promise<ServiceClient> {
  const config = `builtin_models: false\n${MODELS}\nserver: ${server}\nlimits: { failed_authentications_per_minute: 5 }\n`;
  service = await startService({ config, environment });
  return service;
}

interface Asking {
  key?: string | undefined;
  forwarded?: string;
  path?: string;
  localAddress?: string;
}

const WRONG = `sk-wrong-${"c".repeat(32)}`;

/** Sends from any loopback address: 127.0.0.0/8 has many. */
async function ask(
  { origin }: ServiceClient,
  { key = WRONG, forwarded, path = "/v1/models", localAddress }: Asking = {},
) {
  const headers = { authorization: `Bearer ${key}`, ...(forwarded !== undefined && { "x-forwarded-for": forwarded }) };
  return new Promise<{ status: number | undefined; retryAfter: number; body: { error?: unknown } }>(
    (resolve, reject) => {
      const sent = request(new URL(path, origin), { headers, localAddress, agent: false }, async (answer) => {
        const body = JSON.parse(await text(answer));
        resolve({ status: answer.statusCode, retryAfter: Number(answer.headers["retry-after"]), body });
      });
      sent.on("error", reject).end();
    },
  );
}

async function statuses(running: ServiceClient, number: number, asking?: (index: number) => Asking) {
  const found = [];
  for (let index = 0; index < number; index += 1) found.push((await ask(running, asking?.(index))).status);
  return found;
}

const FIVE = [401, 401, 401, 401, 401];

test("answers 429 after too many wrong keys in a minute, and accepts a correct key", async () => {
  const running = await start("{}");
  // Different keys, on model and administration routes.
  const other = (index: number) => ({
    key: `sk-wrong-${index}`,
    path: index % 2 ? "/v1/models" : "/v1/organization/projects",
  });
  expect(await statuses(running, 5, other)).toEqual(FIVE);
  const refused = await ask(running);
  expect(refused.status).toBe(429);
  expect(refused.retryAfter).toBeGreaterThan(0);
  expect(refused.retryAfter).toBeLessThanOrEqual(61);
  expect(refused.body).toEqual({
    error: {
      type: "requests",
      code: "rate_limit_exceeded",
      param: null,
      message: expect.stringMatching(
        /^Too many incorrect API keys from your address: at most 5 .* try again in \d+s\.$/,
      ),
    },
  });
  expect((await ask(running, { key: running.apiKey })).status).toBe(200);
  expect((await ask(running, { key: running.adminKey, path: "/v1/organization/projects" })).status).toBe(200);
  // Correct keys in between do not reset the count, and a neighboring address has a separate one.
  expect((await ask(running)).status).toBe(429);
  expect((await ask(running, { localAddress: "127.0.0.77" })).status).toBe(401);
  const metrics = await (await running.fetch("/metrics")).text();
  expect(metrics).toContain('parlance_refusals_total{model="",limit="failed_authentications"} 2');
});

test("does not count requests without a key or with a correct key in the wrong place", async () => {
  const running = await start("{}");
  const misplaced = { key: running.adminKey };
  expect(await statuses(running, 8, () => misplaced)).toEqual(Array(8).fill(401));
  for (let request = 0; request < 8; request += 1) {
    expect((await fetch(`${running.origin}/v1/models`)).status).toBe(401);
  }
  expect((await ask(running)).status).toBe(401);
});

test("ignores X-Forwarded-For of untrusted senders", async () => {
  const running = await start("{ trusted_proxies: [127.0.0.9] }");
  const spoofed = (index: number) => ({ forwarded: `203.0.113.${index}` });
  expect(await statuses(running, 6, spoofed)).toEqual([...FIVE, 429]);
  // Clients whose addresses it claimed can still connect through the proxy.
  expect((await ask(running, { localAddress: "127.0.0.9", forwarded: "203.0.113.1" })).status).toBe(401);
});

test("counts clients behind a trusted proxy by their own address", async () => {
  const running = await start("{ trusted_proxies: [127.0.0.0/8, '::1', '10.0.0.0/8'] }");
  const proxied = (forwarded: string) => () => ({ forwarded });
  expect(await statuses(running, 6, proxied("198.51.100.1"))).toEqual([...FIVE, 429]);
  expect(await statuses(running, 1, proxied("198.51.100.2"))).toEqual([401]);
  // Addresses that the client wrote are left of it and ignored; a second trusted proxy is skipped.
  expect(await statuses(running, 1, proxied("203.0.113.9, 198.51.100.1"))).toEqual([429]);
  expect(await statuses(running, 1, proxied("198.51.100.1, 10.1.2.3"))).toEqual([429]);
  // The same address, mapped into IPv6.
  expect(await statuses(running, 1, proxied("::ffff:198.51.100.1"))).toEqual([429]);
});

test("counts the addresses of one IPv6 /64 together", async () => {
  const running = await start("{ trusted_proxies: [127.0.0.0/8] }");
  const inNetwork = (index: number) => ({ forwarded: `2001:db8:1:2::${index + 1}` });
  expect(await statuses(running, 6, inNetwork)).toEqual([...FIVE, 429]);
  expect(await statuses(running, 1, () => ({ forwarded: "2001:db8:1:3::1" }))).toEqual([401]);
});

test("rejects an invalid trusted proxy at startup", async () => {
  await expect(start("{ trusted_proxies: [everybody] }")).rejects.toThrow(/server\.trusted_proxies\[0\].*IP address/s);
});
