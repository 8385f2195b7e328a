/** TLS settings, directly and through a proxy. Needs the `openssl` command to create certificates. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeEngineServices } from "../../../../test/support/models/engine-services.ts";
import { forward, makeChatCall } from "../../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../../test/support/service/read-answer.ts";
import type { ChatProxy } from "../../../contracts/chat-proxy.ts";
import { openAiCompatibleEngine } from "../openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "../settings.ts";

describe.skipIf(!hasOpenssl())("an upstream behind TLS with a private authority and client certificates", () => {
  const directory = mkdtempSync(join(tmpdir(), "parlance-tls-"));
  const certificate = join(directory, "certificate.pem");
  const key = join(directory, "key.pem");
  const tunnels: string[] = [];
  const received: { host: string | undefined; serverName: unknown }[] = [];
  let url: string;
  let proxyUrl: string;
  const closing: (() => void)[] = [];

  beforeAll(async () => {
    const subject = ["-subj", "/CN=inference.internal", "-addext", "subjectAltName=DNS:inference.internal"];
    const kind = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];
    execFileSync("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", certificate, ...subject], {
      stdio: "ignore",
    });
    const pem = { cert: readFileSync(certificate), key: readFileSync(key) };
    const server = createServer(
      { ...pem, ca: pem.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const socket = request.socket as TLSSocket & { servername?: unknown };
        received.push({ host: request.headers.host, serverName: socket.servername });
        const content = socket.authorized ? "known client" : "unknown client";
        const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "1", choices }));
      },
    );
    const proxy = createProxy();
    proxy.on("connect", (request, client) => {
      tunnels.push(request.url ?? "");
      const { hostname, port } = new URL(`http://${request.url}`);
      const socket = connect(Number(port), hostname, () => {
        client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        socket.pipe(client).pipe(socket);
      });
      for (const each of [socket, client]) each.on("error", () => {});
      closing.push(() => socket.destroy());
    });
    for (const each of [server, proxy]) {
      each.listen(0, "127.0.0.1");
      await once(each, "listening");
      closing.push(() => {
        each.closeAllConnections();
        each.close();
      });
    }
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    for (const close of closing) close();
    rmSync(directory, { recursive: true });
  });

  async function ask(settings: object): Promise<string> {
    const parsed = openAiCompatibleSettings.parse({ base_url: url, ...settings });
    const { hostname: host, port } = new URL(url);
    const endpoint = { host, port: Number(port), weight: 1, isBackup: false };
    const opened = parsed.endpoints === undefined ? parsed : openAiCompatibleEngine.atEndpoint?.(parsed, endpoint);
    const model = (await openAiCompatibleEngine.open(opened ?? parsed, "chat", makeEngineServices())) as ChatProxy;
    try {
      const events = forward(model, makeChatCall({ stream: false }), new AbortController().signal);
      return (await readAnswer(events)).text;
    } finally {
      await model.close();
    }
  }

  test("is rejected without settings", async () => {
    await expect(ask({})).rejects.toMatchObject({
      kind: "upstream-failed",
      message: expect.stringMatching(/TLS handshake/),
    });
    await expect(ask({ tls: { ca_file: certificate } })).rejects.toMatchObject({ kind: "upstream-failed" });
  });

  test("is trusted with its authority and its name", async () => {
    expect(await ask({ tls: { ca_file: certificate, server_name: "inference.internal" } })).toBe("unknown client");
    expect(await ask({ tls: { verify: false } })).toBe("unknown client");
  });

  test("is checked against the name of the base URL at an endpoint's address", async () => {
    const pool = { endpoints: { dns: "vllm.inference.internal" }, tls: { ca_file: certificate } };
    const { port } = new URL(url);
    expect(await ask({ ...pool, base_url: "https://inference.internal:8443/v1" })).toBe("unknown client");
    expect(received.at(-1)).toEqual({ host: "inference.internal:8443", serverName: "inference.internal" });
    const other = ask({ ...pool, base_url: `https://other.internal:${port}/v1` });
    await expect(other).rejects.toMatchObject({
      kind: "upstream-failed",
      message: expect.stringMatching(/TLS handshake/),
    });
  });

  test("authenticates the client by its certificate, also through a proxy", async () => {
    const tls = {
      ca_file: certificate,
      server_name: "inference.internal",
      certificate_file: certificate,
      key_file: key,
    };
    expect(await ask({ tls })).toBe("known client");
    expect(await ask({ tls, proxy: proxyUrl })).toBe("known client");
    expect(tunnels).toEqual([new URL(url).host]);
  });
});

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
