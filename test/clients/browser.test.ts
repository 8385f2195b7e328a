import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../support/service/chromium.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const ECHO = `models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: hears, task: transcription, deployments: [{ engine: scripted, echo: true }] }`;

/** Serves an empty page; each port is an origin. */
async function startPage(): Promise<{ server: Server; origin: string }> {
  const server = createServer((_incoming, outgoing) => {
    outgoing.setHeader("content-type", "text/html").end("<title>page</title>");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe.skipIf(!hasChromium)("a page in Chromium", () => {
  let service: ServiceProcess;
  let browser: Browser;
  let pages: { server: Server; origin: string }[];

  beforeAll(async () => {
    pages = [await startPage(), await startPage()];
    service = await startServiceProcess({
      config: `builtin_models: false\nserver: { cors_origins: ["${pages[0]?.origin}"] }\n${ECHO}\n`,
      environment: { PARLANCE_TEST_ENGINES: "1" },
    });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    for (const { server } of pages ?? []) server.close();
    await service?.stop();
  });

  async function open(index: number): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(pages[index]?.origin as string);
    return page;
  }

  /** Runs in the page. */
  async function chat({ url, key }: { url: string; key: string }): Promise<{ text: string; requestId: string | null }> {
    const answer = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "echo",
        stream: true,
        messages: [{ role: "user", content: "Hello from a page." }],
      }),
    });
    const frames = (await answer.text()).split("\n\n").filter((frame) => frame.startsWith("data: {"));
    const deltas = frames.map((frame) => JSON.parse(frame.slice("data: ".length)).choices[0]?.delta.content ?? "");
    return { text: deltas.join(""), requestId: answer.headers.get("x-request-id") };
  }

  test("of an allowed origin streams a chat and reads the request's ID", async () => {
    const page = await open(0);
    const answer = await page.evaluate(chat, { url: service.baseUrl, key: service.apiKey });
    expect(answer.text).toBe("Hello from a page.");
    expect(answer.requestId).toMatch(/^req_/);
  });

  test("of another origin reads nothing, and its request never reaches the model", async () => {
    const page = await open(1);
    const answer = page.evaluate(chat, { url: service.baseUrl, key: service.apiKey });
    await expect(answer).rejects.toThrow("Failed to fetch");
    const sent = service.log().filter(({ path, method }) => path === "/v1/chat/completions" && method === "POST");
    expect(sent.map(({ model }) => model)).toEqual(["echo"]);
  });

  /** Runs in the page; resolves with the first event, or undefined when the connection is refused. */
  async function openRealtime({ url, secret }: { url: string; secret: string }): Promise<string | undefined> {
    const protocols = ["realtime", `openai-insecure-api-key.${secret}`];
    const socket = new WebSocket(`${url.replace("http:", "ws:")}/realtime?model=echo`, protocols);
    return new Promise((resolve) => {
      socket.onmessage = ({ data }) => resolve(JSON.parse(data).type);
      socket.onerror = () => resolve(undefined);
    });
  }

  test("of an allowed origin opens a Realtime session with a client secret, and others do not", async () => {
    const { value } = await service
      .client()
      .realtime.clientSecrets.create({ session: { type: "realtime", output_modalities: ["text"] } });
    const asked = { url: service.baseUrl, secret: value };
    const [allowed, other] = [await open(0), await open(1)];
    expect(await allowed.evaluate(openRealtime, asked)).toBe("session.created");
    expect(await other.evaluate(openRealtime, asked)).toBe(undefined);
  });
});
