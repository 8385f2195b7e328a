/** The configuration of `docs/how-to/run-behind-nginx.md`, in a real nginx. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { Agent, FormData, fetch } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { freePort } from "../support/databases/redis.ts";
import { makeCertificates } from "../support/service/certificates.ts";
import { eventually } from "../support/service/eventually.ts";
import { ROOT } from "../support/service/executable.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type CountingUpstream, startCountingUpstream } from "../support/upstreams/counting-upstream.ts";

const isInstalled = ["nginx", "openssl"].every((program) => spawnSync(program, ["-v"]).error === undefined);
if (!isInstalled) console.log("nginx or openssl is not installed: the tests behind nginx are skipped");

describe.skipIf(!isInstalled)("behind nginx", () => {
  const directory = mkdtempSync(join(tmpdir(), "parlance-nginx-"));
  let upstream: CountingUpstream;
  let service: Service;
  let nginx: ChildProcess;
  let origin: string;
  let agent: Agent;

  beforeAll(async () => {
    upstream = await startCountingUpstream();
    service = await startService({
      config: `
builtin_models: false
server: { trusted_proxies: [127.0.0.1] }
limits: { failed_authentications_per_minute: 5 }
models:
  - { id: mock, task: chat, deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrl}" }] }
`,
    });
    await makeCertificates(directory);
    const port = await freePort();
    origin = `https://127.0.0.1:${port}`;
    writeFileSync(join(directory, "nginx.conf"), configuration(port));
    nginx = spawn("nginx", ["-c", join(directory, "nginx.conf"), "-p", directory], { stdio: "ignore" });
    // Not the address of the proxy, which is trusted.
    const localAddress = "127.0.0.9";
    agent = new Agent({ localAddress, connect: { ca: readFileSync(join(directory, "ca.pem")) } });
    await eventually(async () => expect((await get("/v1/models")).status).toBe(200));
  });
  afterAll(async () => {
    await agent?.close();
    if (nginx?.kill("SIGQUIT")) await once(nginx, "exit");
    await service?.stop();
    await upstream?.close();
    rmSync(directory, { recursive: true });
  });

  /** The page's configuration with the addresses and the certificate of this test. */
  function configuration(port: number): string {
    const page = readFileSync(join(ROOT, "docs/how-to/run-behind-nginx.md"), "utf8");
    const [, block = ""] = /```nginx\n(.*?)```/s.exec(page) ?? [];
    const server = block
      .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
      .replace("127.0.0.1:8080;", `${new URL(service.origin).host};`)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${join(directory, "server.pem")};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${join(directory, "server.key")};`);
    const own = `daemon off; pid ${directory}/pid; error_log ${directory}/error.log; events {}`;
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${directory}/${name};`,
    );
    return `${own}\nhttp { access_log off; ${folders.join(" ")}\n${server}}\n`;
  }

  const get = (path: string, key = service.apiKey) =>
    fetch(`${origin}${path}`, { dispatcher: agent, headers: { authorization: `Bearer ${key}` } });

  test("passes each event of a stream on when it comes", async () => {
    upstream.hold();
    const client = new OpenAI({
      baseURL: `${origin}/v1`,
      apiKey: service.apiKey,
      fetch: ((url: string, init?: object) =>
        fetch(url, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch,
    });
    const chunks = await client.chat.completions.create({
      model: "mock",
      messages: [{ role: "user", content: "?" }],
      stream: true,
    });
    const events = chunks[Symbol.asyncIterator]();
    expect((await events.next()).value?.choices[0]?.delta.role).toBe("assistant");
    upstream.release();
    let text = "";
    for await (const { choices } of { [Symbol.asyncIterator]: () => events }) text += choices[0]?.delta.content ?? "";
    expect(text).toMatch(/^answer \d+$/);
  });

  test("takes a body of 20 MB, and refuses a larger one than the service does", async () => {
    const send = async (bytes: number) => {
      const form = new FormData();
      form.set("purpose", "user_data");
      form.set("file", new Blob([Buffer.alloc(bytes)]), "zeros.bin");
      const headers = { authorization: `Bearer ${service.apiKey}` };
      return (await fetch(`${origin}/v1/files`, { method: "POST", body: form, dispatcher: agent, headers })).status;
    };
    expect(await send(20_000_000)).toBe(200);
    expect(await send(30_000_000)).toBe(413);
  });

  test("signs in to the console with a cookie that is Secure and of this port", async () => {
    const response = await fetch(`${origin}/console/session`, {
      method: "POST",
      dispatcher: agent,
      headers: { origin, "sec-fetch-site": "same-origin", "content-type": "application/json" },
      body: JSON.stringify({ key: service.apiKey }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("set-cookie")).toMatch(
      new RegExp(`^__Host-parlance_session_${new URL(origin).port}=.*; Secure; SameSite=Strict$`),
    );
  });

  test("upgrades to WebSockets", async () => {
    const socket = new WebSocket(`${origin.replace("https:", "wss:")}/v1/responses`, {
      ca: readFileSync(join(directory, "ca.pem")),
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "response.create", model: "mock", input: "?" }));
    const [first] = await once(socket, "message");
    expect(JSON.parse(String(first)).type).toBe("response.created");
    socket.close();
    await once(socket, "close");
  });

  test.each(["/health", "/health/ready", "/metrics"])("keeps %s inside", async (path) => {
    expect((await get(path)).status).toBe(404);
    expect((await service.fetch(path)).status).toBe(200);
  });

  test("counts wrong keys of the client, whatever it says of its address", async () => {
    const statuses = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const headers = { authorization: `Bearer sk-wrong-${attempt}`, "x-forwarded-for": `203.0.113.${attempt}` };
      statuses.push((await fetch(`${origin}/v1/models`, { dispatcher: agent, headers })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});
