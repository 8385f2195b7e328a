import { expect, test } from "vitest";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import { recommendModels } from "../model-store/recommend-models.ts";
import { formatRecommendations } from "./recommend.ts";

const model = (id: string, more: Partial<ManifestEntry>): ManifestEntry => ({
  id,
  task: "chat",
  engine: "llama-cpp",
  isDefault: false,
  license: "Apache-2.0",
  description: id,
  files: [{ name: `${id}.gguf`, sources: [] }],
  ...more,
});

const MANIFEST = [
  model("tiny", { files: [{ name: "tiny.gguf", bytes: 100e6, sources: [] }] }),
  model("middle", { approximateBytes: 1.1e9, memoryBytes: 2.1e9, tokensPerSecond: 16 }),
  model("slow", { approximateBytes: 5e9 }),
  model("huge", { approximateBytes: 40e9 }),
  model("unknown", {}),
  model("voice", { task: "speech" }),
];
const machine = {
  processor: "any",
  cores: 2,
  memoryBytes: 32e9,
  freeBytes: 16e9,
  modelMemoryBytes: 24e9,
  gpus: [],
};

test("orders chat models by quality, then slow ones, then those that do not fit", () => {
  const models = recommendModels(MANIFEST, machine, (id) => id === "tiny");
  expect(models.map(({ id, fits }) => [id, fits])).toEqual([
    ["middle", true],
    ["tiny", true],
    ["slow", true],
    ["huge", false],
    ["unknown", false],
  ]);
  expect(models[0]).toMatchObject({ memoryBytes: 2.1e9, tokensPerSecond: 16, isMeasured: true, isPulled: false });
  expect(models[1]?.tokensPerSecond).toBeGreaterThan(80);
});

test("scales speeds with the cores, and recommends nothing that needs more than the free memory", () => {
  const models = recommendModels(MANIFEST, { ...machine, cores: 4, freeBytes: 2e9 }, () => false);
  expect(models.find(({ id }) => id === "middle")).toMatchObject({ fits: false, tokensPerSecond: 32 });
});

test("shows the command that pulls each model", () => {
  const text = formatRecommendations(
    recommendModels(MANIFEST, machine, (id) => id === "tiny"),
    machine,
  );
  expect(text).toMatch(
    /^middle +1\.1 GB +2\.1 GB +16 +Apache-2\.0 +(npm run parlance --|parlance) models pull middle$/m,
  );
  expect(text).toMatch(/^tiny +100\.0 MB +.* ready$/m);
  expect(text).toMatch(/^huge .* needs more memory$/m);
});

test("runs models that fit in a GPU's memory there, faster and beside little main memory", () => {
  const on = (gpuBytes: number | undefined) =>
    recommendModels(MANIFEST, { ...machine, freeBytes: 4e9, gpuBytes }, () => false);
  const find = (id: string, gpuBytes: number | undefined) => on(gpuBytes).find((each) => each.id === id);
  expect(find("slow", undefined)).toMatchObject({ fits: false });
  const { tokensPerSecond = 0, ...slow } = find("slow", 24e9) ?? {};
  expect(slow).toMatchObject({ fits: true, isMeasured: false });
  expect(tokensPerSecond).toBeGreaterThan(50);
  expect(find("huge", 24e9)).toMatchObject({ fits: false });
  const unused = formatRecommendations(on(undefined), { ...machine, gpus: ["NVIDIA L4"] });
  expect(unused).toContain("`parlance doctor` says why");
});
