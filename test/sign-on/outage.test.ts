/** A provider that is away for an hour, on a clock that the test moves: the service and the provider share it. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MINUTE_MS } from "../../src/kernel/durations.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { chatStatus, sessionOf, signOnConfig } from "../support/service/sign-on-service.ts";
import { IdentityProvider } from "../support/upstreams/identity-provider.ts";

let provider: IdentityProvider;
let service: InProcessService;
let browser: BrowserJar;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  provider = await IdentityProvider.start();
  service = await startService({ config: signOnConfig(provider.issuer) });
  provider.serviceOrigin = service.origin;
  provider.people.set("grace", { email: "grace@example.com", name: "Grace Hopper", groups: ["research"] });
  provider.signsInAs = "grace";
  browser = new BrowserJar();
  expect((await browser.open(`${service.origin}/sign-on/idp/start`)).status).toBe(200);
});
afterEach(async () => {
  vi.useRealTimers();
  await service?.stop();
  await provider?.[Symbol.asyncDispose]();
});

const pass = (minutes: number) => vi.setSystemTime(Date.now() + minutes * MINUTE_MS);

test("continues for a quarter of an hour, then pauses, and continues when the provider is back", async () => {
  provider.isAway = true;
  pass(2);
  expect(await chatStatus(browser, service.origin)).toBe(200);
  pass(10);
  expect(await chatStatus(browser, service.origin)).toBe(200);
  pass(48);
  const paused = await browser.fetch(`${service.origin}/console/session`);
  expect(paused.status).toBe(503);
  expect(Number(paused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await paused.json()).toMatchObject({
    error: { code: "provider_unavailable", message: expect.stringContaining("your session is paused") },
  });
  const withKey = await service.inject({
    method: "POST",
    url: "/v1/chat/completions",
    headers: { authorization: `Bearer ${service.apiKey}` },
    payload: { model: "echo", messages: [{ role: "user", content: "Hello" }] },
  });
  expect(withKey.statusCode).toBe(200);
  provider.isAway = false;
  pass(1);
  expect(await chatStatus(browser, service.origin)).toBe(200);
  expect(await sessionOf(browser, service.origin)).toMatchObject({ signed_in: true, user: { name: "Grace Hopper" } });
});

test("ends a session whose user lost the group while the provider was away", async () => {
  provider.isAway = true;
  pass(60);
  expect(await chatStatus(browser, service.origin)).toBe(503);
  provider.people.set("grace", { email: "grace@example.com", name: "Grace Hopper", groups: [] });
  provider.isAway = false;
  pass(1);
  expect(await chatStatus(browser, service.origin)).toBe(401);
});

test("asks the provider no more than once a minute, and not for an idle session", async () => {
  const tokenRequests = () => provider.requests.filter((path) => path === "/token").length;
  const before = tokenRequests();
  for (let second = 0; second < 30; second += 1) {
    vi.setSystemTime(Date.now() + 1000);
    expect(await chatStatus(browser, service.origin)).toBe(200);
  }
  expect(tokenRequests()).toBe(before);
  pass(30);
  expect(tokenRequests()).toBe(before);
  expect(await chatStatus(browser, service.origin)).toBe(200);
  expect(tokenRequests()).toBe(before + 1);
});

test("ends a session after twelve hours, however active it is", async () => {
  for (let hour = 0; hour < 11; hour += 1) {
    pass(60);
    expect(await chatStatus(browser, service.origin)).toBe(200);
  }
  pass(61);
  expect(await chatStatus(browser, service.origin)).toBe(401);
});
