// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the file's own syntax are what is tested
import { describe, expect, test } from "vitest";
import { faultOfConfigText, loadConfigText } from "../../test/support/service/load-config-text.ts";

describe("errors", () => {
  test.each([
    ["- id: nobody\n    task: chat", "models[0].deployments: is required: no built-in model has this ID"],
    ["- id: small-voice\n    task: chat", "models[0].task: must be speech, the built-in model's task"],
    ["- id: small-voice\n    defaults: { temperature: 0 }", "models[0].defaults: are parameters of chat requests"],
    ["- id: own\n    deployments: [{ engine: llama-cpp, model: small-chat }]", "models[0].task: is required"],
  ])("rejects a model that is neither built in nor complete: %s", async (model, message) => {
    expect(await faultOfConfigText(`models:\n  ${model}\n`)).toContain(message);
  });

  test.each([
    [
      "{ engine: llama-cpp, model: small-caht }",
      '.model: is "small-caht", which is not a known model; did you mean small-chat?',
    ],
    [
      "{ engine: llama-cpp, model: unlike }",
      '.model: is "unlike", which is not a known model; `parlance models list --all`',
    ],
  ])("rejects a model that nobody can pull: %s", async (deployment, message) => {
    const fault = await faultOfConfigText(`models: [{ id: a, task: chat, deployments: [${deployment}] }]`);
    expect(fault).toContain(`models[0].deployments[0]${message}`);
  });

  test("rejects an engine that does not support the task", async () => {
    const fault = await faultOfConfigText(
      "models: [{ id: a, task: speech, deployments: [{ engine: llama-cpp, model: small-voice }] }]",
    );
    expect(fault).toContain("deployments[0].engine: does not support speech; engines that do: openai-compatible");
  });

  test.each([
    ["chat: { engine: llama-cpp, model: unlike }", 'chat.model: is "unlike", which is not a known model'],
    ["classifier: { engine: llama-cpp, model: x }", "classifier.engine: does not support moderation"],
    [
      "guard: { chat: { engine: llama-cpp, model: unlike } }",
      'guard.chat.model: is "unlike", which is not a known model',
    ],
  ])("rejects a nested deployment that cannot be opened: %s", async (nested, message) => {
    const deployment = `{ engine: openai-compatible, base_url: "http://a", ${nested} }`;
    const fault = await faultOfConfigText(`models: [{ id: a, task: moderation, deployments: [${deployment}] }]`);
    expect(fault).toContain(`models[0].deployments[0].${message}`);
  });

  test("quotes the name of a variable, not its value, in place of an unknown model", async () => {
    const yaml =
      "models:\n  - id: a\n    task: chat\n    deployments:\n      - engine: llama-cpp\n        model: ${OWN}\n";
    const fault = await faultOfConfigText(yaml, { OWN: "secret-model" });
    expect(fault).toContain('is "${OWN}", which is not a known model');
    expect(fault).not.toContain("secret-model");
  });

  test.each([
    ["guardrails: [{ type: webhook, webhook: dlp }]", "guardrails[0].webhook: must be the name of an entry of"],
    ["guardrails: [{ type: pii, engine: presidio }]", "guardrails[0].engine: needs guardrail_services.presidio"],
    ["guardrails: [{ type: pii, entities: [EMAIL] }]", "guardrails[0].entities: EMAIL is not one of AT_SVNR"],
    ["guardrails: [{ type: words }]", "guardrails[0].words: is required for words"],
    [
      "models: [{ id: small-chat, guardrails: [{ type: secrets }, { type: webhook, webhook: x }] }]",
      "models[0].guardrails[1].webhook: must be the name of an entry of",
    ],
  ])("rejects guardrails that could not run: %s", async (yaml, message) => {
    expect(await faultOfConfigText(yaml)).toContain(message);
  });

  test("accepts settings for a built-in model by its ID alone", async () => {
    const { config } = await loadConfigText(
      "models: [{ id: small-chat, aliases: [gpt-4o], defaults: { top_p: 0.9 } }]",
    );
    expect(config.models).toEqual([]);
    expect(config.builtinOverrides[0]).toMatchObject({
      id: "small-chat",
      aliases: ["gpt-4o"],
      defaults: { topP: 0.9 },
    });
  });

  test("reports every error at once, each with its path", async () => {
    const fault = await faultOfConfigText(
      `
builtin_model: false
server: { port: 70000, operations: { host: "a b" }, max_body_bytes: 1.5 }
log_level: loud
models:
  - id: "bad id"
    task: sing
    price: { prompt: 0.1, completion: "-1", second: "1e-7", character: "0.0000000000000001" }
    strategy: fastest
    circuit: { failure_rate: 1.5 }
    owned_by: ""
    max_queue: -1
    deployments:
      - engine: openai-compatible
        base_url: nowhere
        modle: x
      - engine: openai-compatibel
      - engine: llama-cpp
        model: small-chat
        weight: -2
      - {}
      - text
  - id: wild/*
    task: chat
    aliases: [b]
    deployments: [{ engine: llama-cpp, model: small-chat }]
  - id: twice
    task: chat
    metadata: {}
    aliases: [small-voice, other, other]
    fallbacks: [twice, small-caht, small-voice, wild/*, wild/one, wild/one]
    deployments: []
  - id: twice
    task: chat
  - 7
`,
      { PARLANCE_PORT: "http", PARLANCE_HOST: "a:1", DATABASE_URL: "mysql://x/y", PARLANCE_HOSTT: "x" },
    );
    const lines = fault.split("\n").map((line) => line.trim());
    const expected = [
      "PARLANCE_PORT: must be a whole number from 0 to 65535",
      "PARLANCE_HOST: must be an IP address or a host name",
      "DATABASE_URL: must be a URL that begins with postgres://",
      "PARLANCE_HOSTT: is not a known variable; did you mean PARLANCE_HOST?",
      "builtin_model: is not a known key; did you mean builtin_models? (line 2)",
      "server.port: must be a whole number from 0 to 65535",
      "server.operations.host: must be an IP address",
      "server.operations.port: is required",
      "server.max_body_bytes: must be a whole number (line 3)",
      "log_level: must be one of fatal, error",
      "models[0].id: must be 1 to 200 printable",
      "models[0].task: must be one of chat, embedding, moderation, speech, transcription, image (line 7)",
      "models[0].price.prompt: must be a quoted decimal",
      "models[0].price.completion: must be a quoted decimal number of US dollars",
      "models[0].price.second: must be a quoted decimal number of US dollars",
      "models[0].price.character: must be a quoted decimal number of US dollars",
      "models[0].strategy: must be",
      "models[0].circuit.failure_rate: must be",
      "models[0].owned_by: must be 1 to 100",
      "models[0].max_queue: must be at least 0",
      "models[0].deployments[0].base_url: must be a URL (line 15)",
      "models[0].deployments[0].modle: is not a known key; did you mean model?",
      "models[0].deployments[1].engine: is not a known engine; did you mean openai-compatible?",
      "models[0].deployments[2].weight: must be at least 0",
      "models[0].deployments[3].engine: is required",
      "models[0].deployments[4]: must be a mapping, not a string",
      "models[1].deployments[0].engine: cannot serve a wildcard",
      "models[1].aliases[0]: a wildcard can neither have aliases nor be one",
      "models[2].aliases[0]: is already the ID of a model",
      "models[2].aliases[2]: is already used as an alias",
      "models[2].metadata: is not implemented",
      "models[2].fallbacks[0]: is the model itself",
      'models[2].fallbacks[1]: refers to "small-caht", which does not exist; did you mean small-chat?',
      "models[2].fallbacks[2]: refers to a model whose task is speech, not chat",
      "models[2].fallbacks[3]: must be the ID of one model, not a wildcard",
      "models[2].fallbacks[5]: is listed twice",
      "models[2].deployments: must have at least 1 item",
      "models[3].id: is already used by models[2]",
      "models[3].deployments: is required",
      "models[4]: must be a mapping, not a number",
    ];
    for (const start of expected)
      expect(
        lines.filter((line) => line.startsWith(start)),
        start,
      ).toHaveLength(1);
    expect(lines[0]).toBe(`The configuration has ${expected.length} errors.`);
  });

  test("takes an alias with a trailing *, and rejects one elsewhere", async () => {
    const model = (alias: string) =>
      `models: [{ id: a, task: chat, aliases: ["${alias}"], deployments: [{ engine: llama-cpp, model: small-chat }] }]`;
    for (const alias of ["gpt-5*", "claude-*", "g*"]) {
      expect((await loadConfigText(model(alias))).config.models[0]?.aliases).toEqual([alias]);
    }
    for (const alias of ["*", "*-mini", "gpt-*-mini", "gpt-**", "a b*", `${"x".repeat(200)}*`]) {
      expect(await faultOfConfigText(model(alias))).toContain("models[0].aliases[0]: must be 1 to 200 printable");
    }
    expect(await faultOfConfigText(model("openai/*"))).toContain("a wildcard can neither have aliases nor be one");
  });

  test("rejects a fallback to a built-in model if the built-in models are disabled", async () => {
    const model = "{ id: a, task: chat, fallbacks: [small-chat], deployments: [{ engine: llama-cpp, model: x }] }";
    await expect(loadConfigText(`models: [${model}]`)).resolves.toBeDefined();
    const yaml = `builtin_models: false\nmodels: [${model}]`;
    expect(await faultOfConfigText(yaml)).toContain('models[0].fallbacks[0]: refers to "small-chat"');
  });

  test("lists all alternatives for a value that may have several types", async () => {
    const yaml = "models: [{ id: a, task: chat, deployments: [{ engine: either, gpu: maybe }] }]\n";
    expect(await faultOfConfigText(yaml)).toContain("deployments[0].gpu: must be one of auto, cuda, or false (line 1)");
  });

  test("rejects a configured file that does not exist", async () => {
    expect(await faultOfConfigText(undefined, { PARLANCE_CONFIG: "other.yaml" })).toMatch(
      /^In \/.*\/other\.yaml:\n {2}cannot be read: there is no such file$/m,
    );
    expect(await faultOfConfigText(undefined, { PARLANCE_CONFIG: "." })).toContain("it is a directory");
  });

  test.each([
    ["an open quote", 'log_level: info\nserver: { host: "x }\n', /line \d+, column \d+: Missing closing/],
    ["a tab", "server:\n\thost: x\n", /line 2, column 1: Tabs/],
    ["a duplicate key", "log_level: info\nlog_level: warn\n", /line 2, column 1: Map keys must be unique/],
    ["an unquoted variable in a flow mapping", "server: { host: ${HOST} }\n", /line 1, column \d+: .*quote a value/],
    ["a list", "- models\n", /must be a mapping, not a list/],
    ["an anchor that contains itself", "models: &m [*m]\n", /models: is nested more than 32 levels deep/],
  ])("reports the position of a syntax error: %s", async (_name, yaml, expected) => {
    expect(await faultOfConfigText(yaml)).toMatch(expected);
  });

  test("rejects a file whose nested anchors expand too far", async () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}*l${i}]`);
    expect(await faultOfConfigText(`l0: &l0 [x]\n${levels.join("\n")}\n`)).toContain("expands too many anchors");
  });

  test("rejects __proto__ and constructor as unknown keys", async () => {
    expect(await faultOfConfigText("__proto__: { log_level: debug }\nconstructor: 1\n")).toContain(
      "__proto__: is not a known key",
    );
  });

  test("rejects an engine named like a property of Object.prototype", async () => {
    const yaml = "models: [{ id: a, task: chat, deployments: [{ engine: constructor }] }]\n";
    expect(await faultOfConfigText(yaml)).toContain("models[0].deployments[0].engine: is not a known engine");
  });

  test("explains the PARLANCE_PORT that Kubernetes sets, and ignores its other variables", async () => {
    const links = { PARLANCE_SERVICE_HOST: "10.0.0.1", PARLANCE_PORT_8080_TCP_ADDR: "10.0.0.1" };
    await expect(loadConfigText(undefined, links)).resolves.toBeDefined();
    expect(await faultOfConfigText(undefined, { ...links, PARLANCE_PORT: "tcp://10.0.0.1:8080" })).toContain(
      "enableServiceLinks",
    );
  });

  test("accepts an unknown PARLANCE_ variable that the file refers to", async () => {
    await expect(
      loadConfigText('server: { host: "${PARLANCE_HOSTS}" }', { PARLANCE_HOSTS: "::1" }),
    ).resolves.toBeDefined();
  });
});

describe("secrets", () => {
  const good = "k".repeat(32);

  test.each([
    ["31 characters", "secret-".padEnd(31, "x")],
    ["a space", `secret- ${good}`],
    ["a line break", `secret-${good}\n`],
    ["not ASCII", `secret-é${good}`],
    ["more than 512 characters", `secret-${"x".repeat(2000)}`],
  ])("rejects a first key without showing it: %s", async (_name, key) => {
    for (const variable of ["PARLANCE_API_KEY", "PARLANCE_ADMIN_KEY"]) {
      const fault = await faultOfConfigText(undefined, { [variable]: key });
      expect(fault).toContain(`${variable}: must be 32 to 512 printable ASCII characters without whitespace`);
      expect(fault).not.toContain("secret-");
    }
  });

  test("accepts two different first keys of 32 characters, and rejects equal ones", async () => {
    const { config } = await loadConfigText(undefined, { PARLANCE_API_KEY: good, PARLANCE_ADMIN_KEY: `${good}2` });
    expect([config.environment.PARLANCE_API_KEY?.reveal(), config.environment.PARLANCE_ADMIN_KEY?.reveal()]).toEqual([
      good,
      `${good}2`,
    ]);
    const fault = await faultOfConfigText(undefined, { PARLANCE_API_KEY: good, PARLANCE_ADMIN_KEY: good });
    expect(fault).toContain("PARLANCE_ADMIN_KEY: must not be the same as PARLANCE_API_KEY");
    expect(fault).not.toContain(good);
  });

  test("never shows a variable's value, even if a message quotes it or it is in the wrong place", async () => {
    const yaml = `
log_level: \${SECRET}
models:
  - id: "a \${SECRET}"
    task: \${SECRET}
    strategy: \${SECRET}
    fallbacks: ["\${SECRET}"]
    deployments:
      - { engine: talkative, text: "\${SECRET}" }
      - { engine: "\${SECRET}" }
`;
    const fault = await faultOfConfigText(yaml, { SECRET: "sk-very-secret" });
    expect(fault).not.toContain("sk-very-secret");
    expect(fault).toContain("models[0].deployments[0].text: is wrong: ${SECRET}");
    expect(fault).toContain('fallbacks[0]: refers to "${SECRET}"');
  });

  test.each([
    'api_key: "sk-written-out\n',
    "api_key: sk-written-out: x\n",
    "a: |sk-written-out\n",
    "a: !sk-written-out b\n",
    "a: *sk-written-out\n",
    "a: [x] sk-written-out\n",
    "a: @sk-written-out\n",
  ])("quotes nothing of the file in a syntax error: %s", async (yaml) => {
    expect(await faultOfConfigText(yaml)).not.toContain("written-out");
  });

  test("never shows a database URL", async () => {
    const fault = await faultOfConfigText(undefined, {
      DATABASE_URL: "mysql://u:hunter2@db/x",
      REDIS_URL: "hunter2",
      HF_TOKEN: "hunter2 ",
    });
    expect(fault).not.toContain("hunter2");
    expect(fault).toContain("has 3 errors");
  });

  test.each([
    ["redis://cache/main", "must be redis://host:port/database"],
    ["redis://:hunter%2@cache:6379", "not percent-encoded"],
  ])("rejects %s as REDIS_URL without quoting it", async (url, reason) => {
    const fault = await faultOfConfigText(undefined, { REDIS_URL: url });
    expect(fault).toContain("REDIS_URL");
    expect(fault).toContain(reason);
    expect(fault).not.toContain("hunter");
  });
});
