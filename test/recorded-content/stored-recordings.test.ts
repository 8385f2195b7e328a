/** Recorded content through a backup and a rotation of the encryption key. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runParlance } from "../support/service/run-parlance.ts";
import { type Service, startService } from "../support/service/service.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any;

const [OLD, NEW] = ["o".repeat(40), "n".repeat(40)];
const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;

test("a restored backup has recorded content, encrypted, and search finds it after a rotation", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-recordings-"));
  const backup = join(directory, "copy.sqlite");
  const environment = { PARLANCE_DATA_DIR: directory, PARLANCE_CONFIG: "" };
  const start = (keys: string) =>
    startService({ config: CONFIG, environment: { PARLANCE_DATA_DIR: directory, PARLANCE_ENCRYPTION_KEY: keys } });
  try {
    const first = await start(OLD);
    const administer = async (service: Service, path: string, body?: object): Promise<Any> => {
      const response = await service.fetch(`/v1/organization${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${first.adminKey}`, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return response.json();
    };
    const { id: project } = await administer(first, "/projects", { name: "Recorded" });
    const account = await administer(first, `/projects/${project}/service_accounts`, { name: "Bot" });
    await administer(first, `/projects/${project}/recording`, { record_content: "all" });
    const messages = [{ role: "user" as const, content: "Badgers dig tunnels." }];
    const chat = first.client({ apiKey: account.api_key.value }).chat.completions;
    const { response } = await chat.create({ model: "parrot", messages }).withResponse();
    const id = response.headers.get("x-request-id");
    const read = async (service: Service) =>
      (await administer(service, `/requests/${id}?include[]=content`)).content?.output_messages[0].parts[0].content;
    await expect.poll(() => read(first)).toBe("Badgers dig tunnels.");
    expect(await runParlance(["backup", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });
    expect((await readFile(backup)).includes("Badgers")).toBe(false);
    await first.stop();
    expect(await runParlance(["restore", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });

    const rotated = await start(`${NEW},${OLD}`);
    try {
      expect(await read(rotated)).toBe("Badgers dig tunnels.");
      expect((await administer(rotated, "/requests/search?query=tunnels")).data).toMatchObject([{ id }]);
    } finally {
      await rotated.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
