/** Metrics over OTLP have the same names and values in Prometheus as a scrape of /metrics. */

import { spawn, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePort } from "../support/databases/redis.ts";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

const PROMETHEUS = process.env.PROMETHEUS ?? "prometheus";
/** The flag came with Prometheus 3. */
const HAS_PROMETHEUS = String(spawnSync(PROMETHEUS, ["--help"]).stdout).includes("web.enable-otlp-receiver");
const WITHOUT_PROMETHEUS = HAS_PROMETHEUS ? "" : " (skipped: no Prometheus 3 on this machine; set PROMETHEUS)";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

async function startPrometheus(): Promise<string> {
  const folder = cleanup.use(await temporaryDirectory());
  const port = await freePort();
  const file = join(folder.path, "prometheus.yml");
  await writeFile(file, "global: { scrape_interval: 1h }\n");
  const options = ["--web.enable-otlp-receiver", `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn(PROMETHEUS, [`--config.file=${file}`, `--storage.tsdb.path=${folder.path}/data`, ...options], {
    stdio: "ignore",
  });
  cleanup.defer(async () => {
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
  });
  const origin = `http://127.0.0.1:${port}`;
  await eventually(async () => expect((await fetch(`${origin}/-/ready`)).status).toBe(200));
  return origin;
}

test.skipIf(!HAS_PROMETHEUS)(
  `Prometheus gives exported metrics the names of /metrics${WITHOUT_PROMETHEUS}`,
  async () => {
    const prometheus = await startPrometheus();
    const service = await startServiceProcess({
      config: `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: Squawk }] }] }`,
      environment: {
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${prometheus}/api/v1/otlp/v1/metrics`,
        OTEL_TRACES_EXPORTER: "none",
      },
    });
    const body = { model: "parrot", messages: [{ role: "user", content: "Hello" }] };
    for (let index = 0; index < 3; index += 1) await service.post("/v1/chat/completions", body);
    const scraped = await (await service.fetch("/metrics")).text();
    await service.stop();

    const query = async (path: string) =>
      ((await (await fetch(`${prometheus}/api/v1/${path}`)).json()) as { data: unknown }).data;
    let names: string[] = [];
    await eventually(async () => {
      names = (await query("label/__name__/values")) as string[];
      expect(names).toContain("parlance_requests_total");
    });
    const own = [...scraped.matchAll(/^(\w+)(?:\{.*\})? (?!NaN)\S+$/gm)].map(([, name]) => name as string);
    expect([...new Set(own)].filter((name) => !names.includes(name))).toEqual([]);
    const { result } = (await query("query?query=parlance_requests_total")) as {
      result: { metric: object; value: [number, string] }[];
    };
    expect(result).toMatchObject([
      { metric: { model: "parrot", status: "200", operation: "chat/completions" }, value: [expect.any(Number), "3"] },
    ]);
    expect(names).toContain("gen_ai_client_operation_duration_seconds_bucket");
  },
);
