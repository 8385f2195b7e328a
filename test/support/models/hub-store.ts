/** A model store whose manifest lists one small model on a local hub. */

import { createHash, randomBytes } from "node:crypto";
import { afterEach, beforeEach } from "vitest";
import { createLogger } from "../../../src/kernel/logger.ts";
import type { ManifestEntry, ManifestFile } from "../../../src/model-store/manifest/manifest-entry.ts";
import { ModelStore } from "../../../src/model-store/model-store.ts";
import { type HubSettings, HuggingFaceSource } from "../../../src/model-store/sources/hugging-face.ts";
import { NpmSource } from "../../../src/model-store/sources/npm.ts";
import { PypiSource } from "../../../src/model-store/sources/pypi.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../service/temporary-directory.ts";
import { HubServer } from "./hub-server.ts";

export const content: Buffer<ArrayBuffer> = randomBytes(200_000);
export const sha256: string = createHash("sha256").update(content).digest("hex");
export const REPOSITORY = "owner/repo";

export let hub: HubServer;
export let folder: TemporaryDirectory;

/** Starts a hub and creates an empty store folder for each test. Call it at the top of the file. */
export function useHub(): void {
  beforeEach(async () => {
    hub = await HubServer.start();
    folder = await temporaryDirectory();
  });
  afterEach(async () => {
    await hub[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
}

export const onHub = (path: string) =>
  ({ source: "hugging-face", repository: REPOSITORY, revision: "main", path }) as const;

export function entry(file: Partial<ManifestFile> = {}): ManifestEntry {
  return {
    id: "small",
    task: "chat",
    engine: "llama-cpp",
    isDefault: true,
    license: "Apache-2.0",
    description: "For tests",
    files: [{ name: "small.gguf", bytes: content.length, sha256, sources: [onHub("small.gguf")], ...file }],
  };
}

export function openStore(
  manifest: readonly ManifestEntry[] = [entry()],
  settings: Partial<HubSettings> = {},
  directory: string = folder.path,
): ModelStore {
  const hubSettings = { endpoint: hub.endpoint, token: undefined, offline: false, retryDelayMs: 1, ...settings };
  return new ModelStore({
    directory,
    manifest,
    sources: {
      "hugging-face": new HuggingFaceSource(hubSettings),
      pypi: new PypiSource({ pythons: ["no-such-python"] }),
      npm: new NpmSource({ projectDirectory: folder.path }),
    },
    logger: createLogger("silent"),
  });
}

export const publish = (name = "small.gguf", bytes = content) => hub.add(`${REPOSITORY}/resolve/main/${name}`, bytes);
