/**
 * nDCG@10 of vectors, words and both, over the documents of this repository and questions written by hand.
 * `node bench/vector-stores/retrieval.ts [MAX_TOKENS OVERLAP]…`: sizes of chunks to compare.
 */

import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { encodeSegment } from "../../src/features/vector-stores/index/segment-format.ts";
import { StoreIndex } from "../../src/features/vector-stores/index/store-index.ts";
import { chunkText } from "../../src/kernel/documents/chunk-text.ts";
import { termsOf } from "../../src/kernel/keywords/terms.ts";
import { startServiceProcess } from "../../test/support/service/service-process.ts";
import { QUESTIONS } from "./questions.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SEGMENT = 16;
const K = 10;
const given = process.argv.slice(2).map(Number);
const sizes = given.length === 0 ? [[400, 100]] : given.flatMap((_, at) => (at % 2 ? [] : [given.slice(at, at + 2)]));
const WEIGHTS = [
  ["vectors", 1, 0],
  ["words", 0, 1],
  ["both, 2:1", 2, 1],
  ["both, 1:1", 1, 1],
  ["both, 1:2", 1, 2],
] as const;

const config =
  "builtin_models: false\nmodels:\n  - { id: minilm, task: embedding, deployments: [{ engine: sentence-embeddings, long_input: average }] }\n";
const service = await startServiceProcess({ config });
try {
  const client = service.client();
  const embed = async (input: string[]) => {
    const { data } = await client.embeddings.create({ model: "minilm", input });
    return data.map(({ embedding }) => Float32Array.from(embedding));
  };
  const asked = QUESTIONS.flatMap(([document, ...questions]) => questions.map((question) => ({ document, question })));
  const vectors: Float32Array[] = [];
  for (let at = 0; at < asked.length; at += 64) {
    vectors.push(...(await embed(asked.slice(at, at + 64).map(({ question }) => question))));
  }
  for (const [maxTokens = 400, overlapTokens = 100] of sizes) {
    const index = new StoreIndex();
    const exact: { document: string; vector: Float32Array }[] = [];
    for (const path of globSync("docs/{how-to,explanation,decisions}/*.md", { cwd: ROOT }).sort()) {
      const document = path.replace(/^docs\//, "").replace(/\.md$/, "");
      const texts = [...chunkText(readFileSync(resolve(ROOT, path), "utf8"), { maxTokens, overlapTokens })];
      for (let at = 0; at < texts.length; at += SEGMENT) {
        const some = texts.slice(at, at + SEGMENT).map(({ text }) => text);
        const embedded = await embed(some);
        const values = new Float32Array(embedded.flatMap((vector) => [...vector]));
        index.addSegment(document, at / SEGMENT, encodeSegment(some, values, values.length / some.length));
        exact.push(...embedded.map((vector) => ({ document, vector })));
      }
    }
    console.log(`${asked.length} questions, ${exact.length} chunks of ${maxTokens} tokens, ${overlapTokens} shared`);
    const gains = (rank: (at: number) => string[]) =>
      asked.reduce((sum, { document }, at) => {
        const place = [...new Set(rank(at))].slice(0, K).indexOf(document);
        return sum + (place === -1 ? 0 : 1 / Math.log2(place + 2));
      }, 0) / asked.length;
    const byExact = gains((at) => {
      const query = vectors[at] as Float32Array;
      const scored = exact.map(({ document, vector }) => ({ document, score: dot(vector, query) }));
      return scored.sort((a, b) => b.score - a.score).map(({ document }) => document);
    });
    console.log(`  exact vectors ${byExact.toFixed(3)}`);
    for (const [name, embedding, text] of WEIGHTS) {
      const found = gains((at) => {
        const query = { vector: vectors[at] as Float32Array, terms: termsOf(asked[at]?.question ?? "") };
        const options = { filter: undefined, max: 50, weights: { embedding, text } };
        return index.search({ ...query, ...options }).map(({ addition }) => addition);
      });
      console.log(`  ${name} ${found.toFixed(3)}`);
    }
  }
} finally {
  await service.stop();
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}
