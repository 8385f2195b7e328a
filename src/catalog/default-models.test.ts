import { expect, test } from "vitest";
import { loadConfigText } from "../../test/support/service/load-config-text.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import { modelsToDownload, modelsToListFirst } from "./default-models.ts";

const chat = {
  task: "chat",
  engine: "llama-cpp",
  isDefault: false,
  license: "MIT",
  description: "",
  files: [],
} as const;
const speech = { ...chat, task: "speech", engine: "kokoro" } as const;
const manifest: readonly ManifestEntry[] = [
  { ...chat, id: "small-chat", isDefault: true },
  { ...chat, id: "medium", preferredOn: { freeBytes: 2e9 }, memoryBytes: 1e9 },
  { ...chat, id: "large", preferredOn: { freeBytes: 4e9 }, memoryBytes: 3e9 },
  { ...speech, id: "small-voice", isDefault: true },
  { ...speech, id: "natural-voice", preferredOn: { cores: 4, budgetBytes: 3e9, freeBytes: 2e9 } },
];
const classifier = { id: "classifier", task: "moderation" } as const;
const guarded = { id: "guarded", task: "moderation", requires: "large", preferredOn: { cores: 4 } } as const;
const bundled = [
  { ...guarded, engine: "cascade", license: "MIT", description: "", languages: "", engineSettings: {} },
] as const;
const OWN_CHAT =
  "models: [{ id: own, task: chat, deployments: [{ engine: openai-compatible, base_url: http://127.0.0.1:1 }] }]";

const SMALL = { cores: 2, budgetBytes: 16e9 };
const LARGE = { cores: 4, budgetBytes: 16e9 };
type Choices = Partial<Record<"defaultChatModel" | "defaultSpeechModel" | "defaultModerationModel", string>>;

const configOf = async (yaml: string, environment = {}) => (await loadConfigText(yaml, environment)).config;
const choosing = async (choices: Choices) => {
  const config = await configOf("");
  return { ...config, local: { ...config.local, ...choices } };
};
const download = async (
  choices: Choices,
  machine: Partial<typeof LARGE & { freeBytes: number }> = {},
  ids: string[] = [],
) =>
  modelsToDownload(
    await choosing(choices),
    new Set(ids),
    { manifest, bundled },
    { ...SMALL, freeBytes: 5e9, ...machine },
  ).map(({ id }) => id);

test.each([
  [5e9, 16e9, ["large"]],
  [3e9, 16e9, ["medium"]],
  [5e9, 2e9, ["medium"]],
  [1e9, 16e9, []],
])("with %d bytes of free memory and a budget of %d, downloads %j", async (freeBytes, budgetBytes, ids) => {
  expect(await download({}, { freeBytes, budgetBytes })).toEqual(ids);
});

test("downloads the voice that needs four cores where they are", async () => {
  expect(await download({}, LARGE)).toEqual(["large", "natural-voice"]);
  expect(await download({ defaultSpeechModel: "small-voice" }, LARGE)).toEqual(["large"]);
  expect(await download({ defaultSpeechModel: "natural-voice" })).toEqual(["large", "natural-voice"]);
});

test.each([
  ["CI=true", "", { CI: "true" }],
  ["PARLANCE_DEFAULT_CHAT_MODEL=small-chat", "", { PARLANCE_DEFAULT_CHAT_MODEL: "small-chat" }],
  ["a chat model in the configuration", OWN_CHAT, {}],
  ["built-in models turned off", "builtin_models: false", {}],
])("downloads nothing with %s", async (_what, yaml, environment) => {
  const config = await configOf(yaml, environment);
  const machine = { ...SMALL, freeBytes: 5e9 };
  expect(modelsToDownload(config, new Set(["small-chat"]), { manifest, bundled }, machine)).toEqual([]);
});

test("leaves the download of a default model to its deployment", async () => {
  expect(await download({ defaultChatModel: "small-chat" })).toEqual([]);
});

test("downloads nothing when the chosen model is stored, even if a smaller one is missing", async () => {
  expect(await download({}, {}, ["large"])).toEqual([]);
});

test("downloads once what two tasks need", async () => {
  expect(await download({ defaultModerationModel: "guarded" })).toEqual(["large"]);
});

test("CI=false counts as unset", async () => {
  const config = await configOf("", { CI: "false" });
  const machine = { ...SMALL, freeBytes: 5e9 };
  expect(modelsToDownload(config, new Set(), { manifest, bundled }, machine)).toMatchObject([{ id: "large" }]);
});

test("prefers the largest stored chat model, or the configured one once it is stored", async () => {
  const first = async (choices: Choices, ...ids: string[]) =>
    modelsToListFirst(
      await choosing(choices),
      manifest.filter(({ id }) => ids.includes(id)),
      SMALL,
    );
  expect(await first({}, "small-chat")).toEqual([]);
  expect(await first({}, "small-chat", "medium", "large")).toEqual(["large"]);
  const small = { defaultChatModel: "small-chat" };
  expect(await first(small, "small-chat", "large")).toEqual(["small-chat"]);
  expect(await first({ defaultChatModel: "large" }, "small-chat")).toEqual([]);
});

test("prefers voices and moderation that need four cores only there, or where the configuration names them", async () => {
  const present = [...manifest, classifier, guarded];
  const first = async (choices: Choices, machine: typeof LARGE) =>
    modelsToListFirst(await choosing(choices), present, machine);
  expect(await first({}, SMALL)).toEqual(["large"]);
  expect(await first({}, LARGE)).toEqual(["large", "natural-voice", "guarded"]);
  expect(await first({ defaultModerationModel: "guarded" }, SMALL)).toEqual(["large", "guarded"]);
  expect(await first({ defaultModerationModel: "classifier" }, LARGE)).toEqual([
    "large",
    "natural-voice",
    "classifier",
  ]);
});
