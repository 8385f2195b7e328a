import { expect, test } from "vitest";
import { keepSource } from "../../kernel/json/json-source.ts";
import { parseJson } from "../../kernel/json/parse-json.ts";
import { renameModel } from "./connection/redact.ts";
import { openAiCompatibleSettings } from "./settings.ts";
import { requestTemplate, toUpstreamBody, toUpstreamModel } from "./upstream-request.ts";

const MODELS: [setting: string | undefined, catalogId: string, asked: string, sent: string][] = [
  ["Qwen/Qwen3-8B", "team-chat", "team-chat", "Qwen/Qwen3-8B"],
  [undefined, "team-chat", "team-chat", "team-chat"],
  [undefined, "openai/*", "openai/gpt-5", "gpt-5"],
  [undefined, "hub/*", "hub/owner/model:free", "owner/model:free"],
  ["mistralai/*", "mistral/*", "mistral/small", "mistralai/small"],
  ["one-model", "any/*", "any/thing", "one-model"],
];

test.each(MODELS)("sends model %s of catalog ID %s, requested as %s, as %s", (setting, catalogId, asked, sent) => {
  expect(toUpstreamModel(setting, catalogId, asked)).toBe(sent);
});

test("sends the caller's body with only model and usage changed", () => {
  const body = {
    model: "theirs",
    messages: [{ role: "user", content: "Hi." }],
    stream: true,
    top_k: 7,
    tools: [{ type: "function" }],
    stream_options: { include_usage: false, include_obfuscation: false },
  };
  expect(JSON.parse(toUpstreamBody(body, "own-name") as string)).toEqual({
    ...body,
    model: "own-name",
    stream_options: { include_usage: true, include_obfuscation: false },
  });
  const unstreamed = { model: "theirs", messages: [{ role: "user", content: "Hi." }] };
  expect(JSON.parse(toUpstreamBody(unstreamed, "own-name") as string)).toEqual({ ...unstreamed, model: "own-name" });
});

test("changes members of a body, whether its bytes are there or not", () => {
  const body = { model: "theirs", system: [{ text: "a" }, { text: "b" }], messages: [] };
  const changed = { system: [{ text: "b" }] };
  const expected = { model: "own-name", system: [{ text: "b" }], messages: [] };
  expect(JSON.parse(String(toUpstreamBody(body, "own-name", false, changed)))).toEqual(expected);
  const parsed = parseJson(Buffer.from(JSON.stringify(body)), { maxValues: 100 });
  if (parsed.problem !== undefined) throw new Error(parsed.problem);
  const received = parsed.value as typeof body;
  keepSource(received, parsed.source);
  expect(toUpstreamBody(received, "own-name", false, changed)).toBeInstanceOf(Uint8Array);
  expect(JSON.parse(String(toUpstreamBody(received, "own-name", false, changed)))).toEqual(expected);
});

test("writes a large body in a thread like a small one", async () => {
  const body = { model: "theirs", messages: [{ role: "user", content: 'ä "b"\n'.repeat(300_000) }], user: undefined };
  const written = await toUpstreamBody(body, "own-name");
  expect(written).toBeInstanceOf(Uint8Array);
  expect(Buffer.from(written as Uint8Array).toString()).toBe(JSON.stringify({ ...body, model: "own-name" }));
});

test("keeps a query of the base URL, and lets headers replace the key", () => {
  const settings = openAiCompatibleSettings.parse({
    base_url: "https://host.example/openai/v1/?api-version=2",
    api_key: "sk-key",
    headers: { Authorization: "Basic abc" },
  });
  const template = requestTemplate(settings, "chat/completions");
  expect(template.path).toBe("/openai/v1/chat/completions?api-version=2");
  expect(template.headers).toMatchObject({ authorization: "Basic abc", "accept-encoding": "identity" });
});

test("replaces the upstream's model name by the caller's, but not inside other words", () => {
  expect(renameModel("`gpt-5` is not gpt-5-mini, nor x/gpt-5. Use gpt-5.", "gpt-5", "team")).toBe(
    "`team` is not gpt-5-mini, nor x/gpt-5. Use team.",
  );
});
