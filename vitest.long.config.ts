import { defineConfig } from "vitest/config";

/** Minutes long, one file after the other: `npm run test:long`. */
export default defineConfig({
  test: {
    env: { PARLANCE_TEST_ENGINES: "1", ALL_GENERATED_CASES: "1", PARLANCE_TEST_DURATIONS: "1" },
    include: [
      "test/long/**/*.test.ts",
      // `npm test` runs a quarter of their cases.
      "packages/json-schema-grammar/src/{enforcement,number-language}.test.ts",
      // `npm test` runs some of their templates.
      "src/engines/llama-cpp/llama-cpp-tools.test.ts",
      // `npm test` runs them without their durations.
      "packages/json-schema-grammar/src/schema-pool.test.ts",
      "packages/llama-batching/src/prompts/prompt-builder.test.ts",
      "packages/sentence-embeddings/src/unigram-tokenizer.test.ts",
      "src/counters/shared-counters.test.ts",
      "src/inference/cache/answer-cache.property.test.ts",
      "src/engines/llama-cpp/llama-cpp-overload.test.ts",
      "src/engines/openai-compatible/chat/upstream-chat.faults.test.ts",
      "src/engines/openai-compatible/engine-load.test.ts",
      "src/features/batches/local-queue.test.ts",
      "src/observability/open-telemetry.test.ts",
      "test/accounts/{key-revocation,revoked-runs}.test.ts",
      "test/audio/upstream-transcriptions.test.ts",
      "test/connections/{clients-that-do-not-read,connections,large-bodies,refused-upgrades,uploads}.test.ts",
      "test/embeddings/{embeddings-load,large-embeddings}.test.ts",
      "test/process/load-on-demand.test.ts",
      "test/routing/routing-cancellation.test.ts",
      "test/usage/usage-crash.test.ts",
    ],
    globalSetup: [
      "test/support/service/temporary-files.ts",
      "test/support/databases/migrated-file.ts",
      "test/support/models/fetch-default-models.ts",
      "test/support/service/build-console.ts",
    ],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    // Long enough for a busy machine; Vitest's default is a second.
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
    fileParallelism: false,
  },
});
