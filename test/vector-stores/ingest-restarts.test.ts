/** Files whose process is stopped or killed while they are added to a store. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFile } from "openai";
import { expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { startWordEmbedder } from "../support/vector-stores/word-embedder.ts";

test.each(["SIGTERM", "SIGKILL"] as const)("adds each chunk once after %s", async (signal) => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-stores-"));
  await using embedder = await startWordEmbedder();
  const config = `
builtin_models: false
server: { drain_seconds: 1 }
models:
  - { id: words, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${embedder.url}", model: words }] }
`;
  const start = () => startServiceProcess({ config, environment: { PARLANCE_DATA_DIR: directory } });
  try {
    const lines = Array.from({ length: 3_000 }, (_, index) => `Line ${index} of the book of tides.`);
    const first = await start();
    const client = first.client();
    const file = await client.files.create({
      file: await toFile(Buffer.from(lines.join("\n")), "a.txt"),
      purpose: "assistants",
    });
    const { id: store } = await client.vectorStores.create({});
    const chunking_strategy = {
      type: "static" as const,
      static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 },
    };
    await client.vectorStores.files.create(store, { file_id: file.id, chunking_strategy });
    await eventually(async () => expect(embedder.texts.length).toBeGreaterThan(40));
    embedder.isPaused = true;
    await first.stop(signal);
    embedder.isPaused = false;
    const embedded = embedder.texts.length;
    const second = await start();
    try {
      const again = second.client();
      await eventually(async () => {
        const { status } = await again.vectorStores.files.retrieve(file.id, { vector_store_id: store });
        expect(status).toBe("completed");
      });
      const chunks: string[] = [];
      for await (const { text } of again.vectorStores.files.content(file.id, { vector_store_id: store })) {
        chunks.push(text ?? "");
      }
      expect(chunks.join("\n")).toBe(lines.join("\n"));
      // The second run embeds what the first one had not stored: at most one segment twice.
      expect(embedder.texts.length).toBeLessThanOrEqual(chunks.length + 2 * 16);
      expect(embedded).toBeGreaterThan(40);
      const { data } = await again.vectorStores.search(store, { query: "Line 2999 tides", max_num_results: 50 });
      expect(data.some(({ content }) => content[0]?.text.includes("Line 2999 "))).toBe(true);
    } finally {
      await second.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
