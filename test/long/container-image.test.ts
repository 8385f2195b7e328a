/** Both images of the Containerfile, built for this machine's architecture and run with a read-only root. */

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/databases/redis.ts";
import { DEFAULT_CHAT_MODEL, TEST_MODELS_DIRECTORY } from "../support/models/default-model.ts";
import {
  type BuiltImage,
  CAN_BUILD_IMAGES,
  type ImageBuilder,
  imageBuilder,
  type RunningImage,
  WITHOUT_IMAGES,
} from "../support/service/container-image.ts";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const BUILD_MS = 1_200_000;
const API_KEY = `sk-image-${"c".repeat(32)}`;

const cleanup = new AsyncDisposableStack();
let builder: ImageBuilder;

beforeAll(async () => {
  if (!CAN_BUILD_IMAGES) return;
  builder = cleanup.use(await imageBuilder());
}, BUILD_MS);

afterAll(() => cleanup.disposeAsync(), BUILD_MS);

async function firstAnswer(port: number, model: string): Promise<string | null | undefined> {
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: API_KEY, maxRetries: 0 });
  const { choices } = await client.chat.completions.create({
    model,
    messages: [{ role: "user", content: "Write a short sentence about the sea." }],
    max_completion_tokens: 24,
  });
  return choices[0]?.message.content;
}

describe.skipIf(!CAN_BUILD_IMAGES).each([
  ["gateway", 100],
  ["full", 300],
] as const)(`the %s image${WITHOUT_IMAGES}`, (target, maxMegabytes) => {
  let image: BuiltImage;
  let running: RunningImage;
  let port: number;
  let model: string;

  beforeAll(async () => {
    image = await builder.build(target);
    port = await freePort();
    const environment = { PARLANCE_PORT: `${port}`, PARLANCE_HOST: "127.0.0.1", PARLANCE_API_KEY: API_KEY };
    if (target === "full") {
      model = DEFAULT_CHAT_MODEL;
      const models = { PARLANCE_DEFAULT_CHAT_MODEL: model, HF_HUB_OFFLINE: "1" };
      const config = "local: { unload_after_seconds: 0 }\n";
      running = await image.start({
        environment: { ...environment, ...models },
        config,
        models: TEST_MODELS_DIRECTORY,
      });
    } else {
      model = "parrot";
      const upstream = await startServiceProcess({
        config:
          "builtin_models: false\nmodels:\n  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{}] }] }\n",
      });
      cleanup.defer(async () => void (await upstream.stop()));
      const deployment = deploymentAt(upstream);
      const config = `models:\n  - { id: parrot, task: chat, deployments: [${deployment}] }\n`;
      running = await image.start({ environment, config });
    }
    cleanup.defer(async () => void (await running.stop()));
  }, BUILD_MS);

  test("answers its first chat and its health check", async () => {
    // The model is loaded at the start.
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200));
    const answer = await firstAnswer(port, model);
    console.log(`first answer of ${target}: ${JSON.stringify(answer)}`);
    expect(answer).toMatch(/\w/);
    const [kind, ...command] = image.config.Healthcheck?.Test ?? [];
    expect(kind).toBe("CMD");
    expect(await running.execute(command)).toBe(0);
  });

  test("runs as an unprivileged user on a read-only root", async () => {
    expect(image.config.User).toBe("65532:65532");
    const status = await running.proc("status");
    expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    const mounts = (await running.proc("mountinfo")).split("\n").map((line) => line.split(" "));
    const root = mounts.find(([, , , , path]) => path === "/");
    expect(root?.[5]?.split(",")).toContain("ro");
    const write = 'require("node:fs").writeFileSync("/tmp/x", ""); require("node:fs").writeFileSync("/opt/x", "")';
    expect(await running.execute(["/opt/parlance/bin/node", "-e", write])).toBe(1);
    expect(await running.execute(["/opt/parlance/bin/node", "-e", write.split(";")[0] ?? ""])).toBe(0);
  });

  test("has a data volume, labels, a bill of materials and no shell", async () => {
    const { Volumes, Labels } = image.config;
    expect(Object.keys(Volumes)).toEqual(["/var/lib/parlance"]);
    expect(Labels["org.opencontainers.image.licenses"]).toBe("Apache-2.0");
    const read =
      'JSON.parse(require("node:fs").readFileSync("/opt/parlance/sbom.cdx.json")).components.length > 50 || y';
    expect(await running.execute(["/opt/parlance/bin/node", "-e", read])).toBe(0);
    expect(await running.execute(["/bin/sh", "-c", "true"])).not.toBe(0);
  });

  test(`takes at most ${maxMegabytes} MB compressed, with its base`, () => {
    const own = image.megabytes - image.baseMegabytes;
    console.log(`${target}: ${own.toFixed(1)} MB, ${image.megabytes.toFixed(1)} MB with the base`);
    expect(image.megabytes).toBeLessThanOrEqual(maxMegabytes);
  });

  test("ends in time after SIGTERM", async () => {
    expect(await running.stop()).toBe(0);
  });
});
