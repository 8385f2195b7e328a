/** A child process that pulls one file from a hub: `directory endpoint owner/repo/file`. Prints JSON lines. */

import { createLogger } from "../../../src/kernel/logger.ts";
import { ModelStore } from "../../../src/model-store/model-store.ts";
import { HuggingFaceSource } from "../../../src/model-store/sources/hugging-face.ts";
import { NpmSource } from "../../../src/model-store/sources/npm.ts";
import { PypiSource } from "../../../src/model-store/sources/pypi.ts";

const [directory = "", endpoint = "", reference = ""] = process.argv.slice(2);
const store = new ModelStore({
  directory,
  manifest: [],
  sources: {
    "hugging-face": new HuggingFaceSource({ endpoint, token: undefined, offline: false }),
    pypi: new PypiSource(),
    npm: new NpmSource({ projectDirectory: directory }),
  },
  logger: createLogger("silent"),
});
const { path } = await store.pull(
  { hf: reference },
  {
    signal: new AbortController().signal,
    onProgress: ({ phase, receivedBytes }) => console.log(JSON.stringify({ phase, receivedBytes })),
  },
);
console.log(JSON.stringify({ path }));
