import { expect, test } from "vitest";
import { loadConfigText } from "../../test/support/service/load-config-text.ts";
import type { ManifestEntry } from "../model-store/manifest/manifest-entry.ts";
import { chatModelToDownload, defaultChatModel } from "./default-chat-model.ts";

const chat = {
  task: "chat",
  engine: "llama-cpp",
  isDefault: false,
  license: "MIT",
  description: "",
  files: [],
} as const;
const manifest: readonly ManifestEntry[] = [
  { ...chat, id: "small-chat", isDefault: true },
  { ...chat, id: "medium", preferredFromFreeBytes: 2e9, memoryBytes: 1e9 },
  { ...chat, id: "large", preferredFromFreeBytes: 4e9, memoryBytes: 3e9 },
];
const OWN_CHAT =
  "models: [{ id: own, task: chat, deployments: [{ engine: openai-compatible, base_url: http://127.0.0.1:1 }] }]";

const configOf = async (yaml: string, environment = {}) => (await loadConfigText(yaml, environment)).config;
const pulled = (...ids: string[]) => new Set(ids);
const memory = (freeBytes: number, budgetBytes = 16e9) => ({ freeBytes, budgetBytes });

test.each([
  [5e9, 16e9, "large"],
  [3e9, 16e9, "medium"],
  [5e9, 2e9, "medium"],
  [1e9, 16e9, undefined],
])("with %d bytes of free memory and a budget of %d, chooses %s", async (freeBytes, budgetBytes, id) => {
  const config = await configOf("");
  expect(chatModelToDownload(config, pulled(), manifest, memory(freeBytes, budgetBytes))?.id).toBe(id);
});

test.each([
  ["CI=true", "", { CI: "true" }],
  ["PARLANCE_DEFAULT_CHAT_MODEL=small-chat", "", { PARLANCE_DEFAULT_CHAT_MODEL: "small-chat" }],
  ["a chat model in the configuration", OWN_CHAT, {}],
  ["built-in models turned off", "builtin_models: false", {}],
])("downloads nothing with %s", async (_what, yaml, environment) => {
  const config = await configOf(yaml, environment);
  expect(chatModelToDownload(config, pulled("small-chat"), manifest, memory(5e9))).toBeUndefined();
});

test("leaves the download of a default model to its deployment", async () => {
  const config = await configOf("", { PARLANCE_DEFAULT_CHAT_MODEL: "small-chat" });
  expect(chatModelToDownload(config, pulled(), manifest, memory(5e9))).toBeUndefined();
});

test("downloads nothing when the chosen model is stored, even if a smaller one is missing", async () => {
  expect(chatModelToDownload(await configOf(""), pulled("large"), manifest, memory(5e9))).toBeUndefined();
});

test("CI=false counts as unset", async () => {
  const config = await configOf("", { CI: "false" });
  expect(chatModelToDownload(config, pulled(), manifest, memory(5e9))?.id).toBe("large");
});

test("prefers the largest stored model, or the configured one once it is stored", async () => {
  expect(defaultChatModel(await configOf(""), pulled("small-chat"), manifest)).toBeUndefined();
  expect(defaultChatModel(await configOf(""), pulled("small-chat", "medium", "large"), manifest)).toBe("large");
  const small = await configOf("local: { default_chat_model: small-chat }");
  expect(defaultChatModel(small, pulled("small-chat", "large"), manifest)).toBe("small-chat");
});
