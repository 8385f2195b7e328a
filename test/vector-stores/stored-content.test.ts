/** Vector stores through a rotation of the encryption key and a backup. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFile } from "openai";
import { expect, test } from "vitest";
import { runParlance } from "../support/service/run-parlance.ts";
import { startService } from "../support/service/service.ts";
import { startWordEmbedder } from "../support/vector-stores/word-embedder.ts";

const [OLD, NEW] = ["o".repeat(40), "n".repeat(40)];

test("finds content after the key was rotated and a backup was restored, and stores it encrypted", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-rotation-"));
  await using embedder = await startWordEmbedder();
  const config = `
builtin_models: false
models:
  - { id: words, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${embedder.url}", model: words }] }
`;
  const start = (keys: string) => {
    return startService({ config, environment: { PARLANCE_DATA_DIR: directory, PARLANCE_ENCRYPTION_KEY: keys } });
  };
  const backup = join(directory, "copy.sqlite");
  const environment = { PARLANCE_DATA_DIR: directory, PARLANCE_CONFIG: "" };
  try {
    const first = await start(OLD);
    const client = first.client();
    const add = async (store: string, text: string) => {
      const file = await client.files.create({ file: await toFile(Buffer.from(text), "a.md"), purpose: "assistants" });
      await client.vectorStores.files.createAndPoll(store, { file_id: file.id }, { pollIntervalMs: 50 });
    };
    const { id: store } = await client.vectorStores.create({});
    await add(store, "Badgers dig tunnels.");
    expect(await runParlance(["backup", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });
    expect((await readFile(backup)).includes("Badgers")).toBe(false);
    await client.vectorStores.delete(store);
    await first.stop();
    expect(await runParlance(["restore", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });

    const rotated = await start(`${NEW},${OLD}`);
    const again = rotated.client();
    const { data } = await again.vectorStores.search(store, { query: "badgers" });
    expect(data[0]?.content[0]?.text).toBe("Badgers dig tunnels.");
    await rotated.stop();

    const forgotten = await start(NEW);
    try {
      const searching = forgotten.client({ maxRetries: 0 }).vectorStores.search(store, { query: "badgers" });
      await expect(searching).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining("cannot be decrypted"),
      });
    } finally {
      await forgotten.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
