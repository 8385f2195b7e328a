import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultChatModelPath } from "../../test/support/models/default-model.ts";
import { shallowModelPath } from "../../test/support/models/shallow-model.ts";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import { MeasuredSpeeds } from "../model-store/measured-speeds.ts";
import { recommendModels } from "../model-store/recommend-models.ts";
import { measureSpeed } from "./measure-speed.ts";
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
  expect(models[0]).toMatchObject({ memoryBytes: 2.1e9, tokensPerSecond: 16, isMeasured: false, isPulled: false });
  expect(models[1]?.tokensPerSecond).toBeGreaterThan(80);
});

test("scales speeds with the cores, and recommends nothing that needs more than the free memory", () => {
  const models = recommendModels(MANIFEST, { ...machine, cores: 4, freeBytes: 2e9 }, () => false);
  expect(models.find(({ id }) => id === "middle")).toMatchObject({ fits: false, tokensPerSecond: 32 });
});

test("shows what was measured here, and scales the other estimates by how far it is off", () => {
  const estimates = recommendModels(MANIFEST, machine, () => false);
  const speeds = new Map([["middle", 8]]);
  const models = recommendModels(MANIFEST, machine, () => false, { speeds });
  const speedOf = (list: typeof models, id: string) =>
    list.find((each) => each.id === id)?.tokensPerSecond ?? Number.NaN;
  expect(models.find(({ id }) => id === "middle")).toMatchObject({ tokensPerSecond: 8, isMeasured: true });
  expect(models.filter(({ isMeasured }) => isMeasured)).toHaveLength(1);
  for (const id of ["tiny", "slow", "huge"]) expect(speedOf(models, id)).toBeCloseTo(speedOf(estimates, id) / 2, 5);
  expect(speedOf(models, "unknown")).toBeNaN();
  expect(formatRecommendations(models, machine)).toMatch(/^middle +1\.1 GB +2\.1 GB +8\.0 /m);
});

test("keeps measured speeds for this machine only", async () => {
  await using directory = await temporaryDirectory();
  await new MeasuredSpeeds(directory.path, "a processor").write(new Map([["tiny", 12.5]]));
  expect(await new MeasuredSpeeds(directory.path, "a processor").read()).toEqual(new Map([["tiny", 12.5]]));
  expect(await new MeasuredSpeeds(directory.path, "another").read()).toEqual(new Map());
  await writeFile(join(directory.path, "model-speeds.json"), "{");
  expect(await new MeasuredSpeeds(directory.path, "a processor").read()).toEqual(new Map());
});

test("stores speeds in a data directory that does not exist yet, which other users cannot access", async () => {
  await using directory = await temporaryDirectory();
  const data = join(directory.path, "new", "data");
  await new MeasuredSpeeds(data, "a processor").write(new Map([["tiny", 12.5]]));
  expect((await stat(data)).mode & 0o077).toBe(0);
  expect(await new MeasuredSpeeds(data, "a processor").read()).toEqual(new Map([["tiny", 12.5]]));
});

test("measures a model in a process of its own", async () => {
  const speed = await measureSpeed(await shallowModelPath(await defaultChatModelPath()));
  expect(speed).toBeGreaterThan(0);
  expect(await measureSpeed("/nowhere.gguf")).toBeUndefined();
});

test("shows the command that pulls each model", () => {
  const text = formatRecommendations(
    recommendModels(MANIFEST, machine, (id) => id === "tiny"),
    machine,
  );
  expect(text).toMatch(
    /^middle +1\.1 GB +2\.1 GB +~16 +Apache-2\.0 +(npm run parlance --|parlance) models pull middle$/m,
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
