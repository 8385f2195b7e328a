// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the file's own syntax are what is tested
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { faultOfConfigText, loadConfigText } from "../../test/support/service/load-config-text.ts";
import type { Secret } from "../kernel/secret.ts";

const ONE_MODEL = `
models:
  - id: team-chat
    task: chat
    access_groups: [team-a]
    price: { prompt: "0.0000001", completion: "0.0000004" }
    strategy: ordered
    fallbacks: [small-chat, openai/gpt-x]
    deployments:
      - engine: openai-compatible
        base_url: http://10.0.0.5:8000/v1
        api_key: \${UPSTREAM_KEY}
        model: Qwen/Qwen3-8B
      - engine: llama-cpp
        model: small-chat
  - id: openai/*
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "https://api.example.com/v1" }]
`;

describe("a good configuration", () => {
  test("needs neither a file nor an environment variable", async () => {
    const { config, directory } = await loadConfigText(undefined);
    expect(config.server.operations).toBeUndefined();
    expect(config).toMatchObject({
      file: undefined,
      server: { host: "127.0.0.1", port: 8080 },
      dataDirectory: join(directory, ".parlance"),
      modelsDirectory: join(directory, ".parlance", "models"),
      hub: { endpoint: "https://huggingface.co", token: undefined, offline: false },
      builtinModels: true,
      defaultAliases: true,
      models: [],
      warnings: [],
    });
  });

  test("reads models from the file and secrets from the environment", async () => {
    const { config } = await loadConfigText(ONE_MODEL, { UPSTREAM_KEY: "sk-upstream-1" });
    expect(config.models.map(({ id }) => id)).toEqual(["team-chat", "openai/*"]);
    expect(config.models[0]).toMatchObject({
      accessGroups: ["team-a"],
      price: { prompt: "0.0000001", completion: "0.0000004" },
      fallbacks: ["small-chat", "openai/gpt-x"],
      deployments: [
        { engine: "openai-compatible", settings: { base_url: "http://10.0.0.5:8000/v1", model: "Qwen/Qwen3-8B" } },
        { engine: "llama-cpp", settings: { model: "small-chat" } },
      ],
    });
    const settings = config.models[0]?.deployments[0]?.settings as { api_key: Secret };
    expect(settings.api_key.reveal()).toBe("sk-upstream-1");
    expect(inspect(config, { depth: null }) + JSON.stringify(config)).not.toContain("sk-upstream-1");
  });

  test("is deep-frozen", async () => {
    const { config } = await loadConfigText(ONE_MODEL, { UPSTREAM_KEY: "x" });
    expect(Object.isFrozen(config.server)).toBe(true);
    expect(Object.isFrozen(config.models[0]?.deployments[0]?.settings)).toBe(true);
    expect(() => Object.assign(config.models[0] ?? {}, { id: "other" })).toThrow(TypeError);
  });

  test("prefers the environment to the file, and resolves each path relative to its source", async () => {
    const yaml =
      "server: { host: 10.0.0.1, port: 9000 }\ndata_directory: state\nlog_level: warn\nbuiltin_models: false\n";
    const plain = await loadConfigText(yaml);
    expect(plain.config).toMatchObject({
      server: { host: "10.0.0.1", port: 9000 },
      dataDirectory: join(plain.directory, "state"),
      logLevel: "warn",
      builtinModels: false,
      defaultAliases: true,
    });
    const environment = {
      PARLANCE_HOST: "::1",
      PARLANCE_PORT: "0",
      PARLANCE_DATA_DIR: "/var/lib/parlance",
      PARLANCE_MODELS_DIR: "m",
      PARLANCE_LOG_LEVEL: "debug",
      PARLANCE_BUILTIN_MODELS: "true",
      HF_ENDPOINT: "http://mirror.example/",
      HF_HUB_OFFLINE: "1",
    };
    const overridden = await loadConfigText(yaml, environment);
    expect(overridden.config).toMatchObject({
      server: { host: "::1", port: 0 },
      dataDirectory: "/var/lib/parlance",
      modelsDirectory: join(overridden.directory, "m"),
      logLevel: "debug",
      builtinModels: true,
      defaultAliases: true,
      hub: { endpoint: "http://mirror.example", offline: true },
    });
  });

  test("treats an empty variable as unset and an empty file as missing", async () => {
    const { config } = await loadConfigText("# nothing yet\n", {
      PARLANCE_PORT: "",
      PARLANCE_API_KEY: "",
      DATABASE_URL: "",
    });
    expect(config).toMatchObject({
      server: { port: 8080 },
      environment: { PARLANCE_API_KEY: undefined, DATABASE_URL: undefined },
    });
  });

  test("keeps both database URLs as secrets, and warns about REDIS_URL without DATABASE_URL", async () => {
    const { config } = await loadConfigText(undefined, {
      DATABASE_URL: "postgres://parlance:hunter2@db/parlance",
      REDIS_URL: "redis://:hunter2@cache:6379",
    });
    expect(config.environment.DATABASE_URL?.reveal()).toContain("hunter2");
    expect(inspect(config, { depth: null })).not.toContain("hunter2");
    expect(config.warnings).toEqual([]);
    const alone = await loadConfigText(undefined, { REDIS_URL: "redis://cache:6379" });
    expect(alone.config.warnings).toEqual([expect.stringContaining("REDIS_URL")]);
  });
});

describe("substitution", () => {
  const model = (text: string) => `
models:
  - id: a
    task: chat
    deployments:
      - engine: openai-compatible
        base_url: http://localhost/v1
        model: ${text}
`;

  async function settingsOf(text: string, environment: Record<string, string>) {
    const { config } = await loadConfigText(model(text), environment);
    return config.models[0]?.deployments[0]?.settings;
  }

  test("substitutes several variables in one text, and leaves escaped references", async () => {
    const [a, b] = ["${A}", "${B}"];
    expect(await settingsOf(`"x-${a}-${b}-$${a}-$5"`, { A: "1", B: "2" })).toMatchObject({ model: "x-1-2-${A}-$5" });
  });

  test("neither parses a variable's value as YAML nor expands it again", async () => {
    const injected = "x\nserver: { port: 1 }\n${OTHER} # &a *a";
    expect(await settingsOf("${A}", { A: injected })).toMatchObject({ model: injected });
  });

  test("reports only the path of a variable that is not set, not its consequences", async () => {
    const fault = await faultOfConfigText(ONE_MODEL.replace("http://10.0.0.5:8000/v1", "${NOT_SET}"), {
      UPSTREAM_KEY: "x",
    });
    expect(fault).toContain("models[0].deployments[0].base_url: refers to the environment variable NOT_SET");
    expect(fault).toContain("has 1 error.");
  });

  test.each(["${}", "${a-b}", "${A:-x}", '"${A"'])("rejects %s", async (text) => {
    expect(await faultOfConfigText(model(text), { A: "1" })).toMatch(
      /models\[0\]\.deployments\[0\]\.model: contains .* write \$\$\{/,
    );
  });

  test("leaves keys unchanged", async () => {
    expect(await faultOfConfigText('"${A}": 1\n', { A: "server" })).toContain('["${A}"]: is not a known key');
  });
});
