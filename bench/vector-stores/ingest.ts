/**
 * Adds 20,000 chunks of this repository's texts to a vector store, with an upstream that embeds at once, and measures how
 * long other requests wait meanwhile. `node bench/vector-stores/ingest.ts [CHUNKS] [minilm]`: with the built-in model.
 */

import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { toFile } from "openai";
import { startServiceProcess } from "../../test/support/service/service-process.ts";
import { startWordEmbedder } from "../../test/support/vector-stores/word-embedder.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const [chunks = 20_000] = process.argv.slice(2).map(Number);
const usesMiniLm = process.argv.includes("minilm");
const CHARACTERS_PER_CHUNK = 1_100;
const FILES = 20;
const PAUSE_MS = 50;

await using embedder = await startWordEmbedder();
const model = usesMiniLm
  ? "{ engine: sentence-embeddings }"
  : `{ engine: openai-compatible, base_url: "${embedder.url}", model: words }`;
const service = await startServiceProcess({
  config: `
builtin_models: false
models:
  - { id: vectors, task: embedding, deployments: [${model}] }
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
});
try {
  const sources = globSync(["docs/**/*.md", "src/**/*.ts", "packages/*/src/**/*.ts"], { cwd: ROOT });
  const text = sources.map((path) => readFileSync(resolve(ROOT, path), "utf8")).join("\n\n");
  const size = (chunks * CHARACTERS_PER_CHUNK) / FILES;
  const client = service.client({ maxRetries: 5 });
  const { id: store } = await client.vectorStores.create({});
  const ids: string[] = [];
  for (let file = 0; file < FILES; file += 1) {
    const start = (file * size) % Math.max(1, text.length - size);
    const content = Buffer.from(text.repeat(Math.ceil(size / text.length)).slice(start, start + size));
    const { id } = await client.files.create({ file: await toFile(content, `${file}.txt`), purpose: "assistants" });
    ids.push(id);
  }
  const startedAt = performance.now();
  await client.vectorStores.fileBatches.create(store, { file_ids: ids });
  const waits: number[] = [];
  for (;;) {
    const askedAt = performance.now();
    await client.chat.completions.create({ model: "parrot", messages: [{ role: "user", content: "Hi" }] });
    waits.push(performance.now() - askedAt);
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    if (waits.length % 20 === 0 && (await client.vectorStores.retrieve(store)).status === "completed") break;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  let added = 0;
  for (const id of ids) {
    for await (const _chunk of client.vectorStores.files.content(id, { vector_store_id: store })) added += 1;
  }
  waits.sort((a, b) => a - b);
  const at = (share: number) => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(1);
  console.log(`${added} chunks in ${seconds.toFixed(1)} s, ${(added / seconds).toFixed(0)} a second`);
  console.log(`${waits.length} chats meanwhile: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`);
  const times: number[] = [];
  for (const query of Array.from({ length: 30 }, (_, index) => `retry after failure ${index}`)) {
    const askedAt = performance.now();
    await client.vectorStores.search(store, { query });
    times.push(performance.now() - askedAt);
  }
  const [first = 0, ...later] = times;
  later.sort((a, b) => a - b);
  console.log(
    `first search ${first.toFixed(0)} ms, then p95 ${(later[Math.floor(later.length * 0.95)] ?? 0).toFixed(1)} ms`,
  );
} finally {
  await service.stop();
}
