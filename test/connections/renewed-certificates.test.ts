/** Renewal of an upstream's certificate in place, followed by SIGHUP. Needs the `openssl` command. */

import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";

test.skipIf(spawnSync("openssl", ["version"]).status !== 0)("SIGHUP reads renewed certificates", async () => {
  const directory = mkdtempSync(join(tmpdir(), "parlance-certificates-"));
  const make = (name: string) => {
    const [key, certificate] = [join(directory, `${name}-key.pem`), join(directory, `${name}.pem`)];
    const given = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=upstream.internal"];
    execFileSync("openssl", [...given, "-keyout", key, "-out", certificate], { stdio: "ignore" });
    return { key, certificate };
  };
  const old = make("old");
  const renewed = make("new");
  const choices = [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }];
  const upstream = createServer(
    { key: readFileSync(renewed.key), cert: readFileSync(renewed.certificate) },
    (_request, response) => {
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ id: "1", object: "chat.completion", created: 1, model: "upstream", choices }));
    },
  );
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const trusted = join(directory, "trusted.pem");
  copyFileSync(old.certificate, trusted);
  const { port } = upstream.address() as AddressInfo;
  const service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: theirs
    task: chat
    circuit: { failures: 1000, failure_rate: 1 }
    deployments:
      - engine: openai-compatible
        base_url: "https://127.0.0.1:${port}/v1"
        tls: { ca_file: "${trusted}", server_name: upstream.internal }
`,
  });
  try {
    const ask = () =>
      service.post("/v1/chat/completions", { model: "theirs", messages: [{ role: "user", content: "?" }] });
    expect((await ask()).status).toBe(502);
    copyFileSync(renewed.certificate, trusted);
    expect((await ask()).status).toBe(502);
    service.process.kill("SIGHUP");
    await eventually(async () => expect((await ask()).status).toBe(200));
  } finally {
    await service.stop();
    upstream.closeAllConnections();
    upstream.close();
    rmSync(directory, { recursive: true });
  }
});
