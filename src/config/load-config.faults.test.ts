// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the file's own syntax are what is tested
import { describe, expect, test } from "vitest";
import { faultOfConfigText, loadConfigText } from "../../test/support/load-config-text.ts";

describe("faults", () => {
  test("are all told at once, each with its path, whatever stands beside it", async () => {
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
      "models[0].task: must be one of chat, moderation, speech, transcription (line 7)",
      "models[0].price.prompt: must be a decimal in quotes",
      "models[0].price.completion: must be US dollars",
      "models[0].price.second: must be US dollars",
      "models[0].price.character: must be US dollars",
      "models[0].strategy: must be",
      "models[0].circuit.failure_rate: must be",
      "models[0].owned_by: must be 1 to 100",
      "models[0].max_queue: must be at least 0",
      "models[0].deployments[0].base_url: must be a URL (line 15)",
      "models[0].deployments[0].modle: is not a known key; did you mean model?",
      "models[0].deployments[1].engine: names no engine that is known; did you mean openai-compatible?",
      "models[0].deployments[2].weight: must be at least 0",
      "models[0].deployments[3].engine: is required",
      "models[0].deployments[4]: must be a mapping, not a string",
      "models[1].deployments[0].engine: cannot serve a wildcard",
      "models[1].aliases[0]: a wildcard has no aliases",
      "models[2].aliases[0]: is a model's id already",
      "models[2].aliases[2]: is another alias already",
      "models[2].metadata: is not built yet",
      "models[2].fallbacks[0]: names the model itself",
      'models[2].fallbacks[1]: names "small-caht", which is no model\'s id; did you mean small-chat?',
      "models[2].fallbacks[2]: names a model whose task is speech, not chat",
      "models[2].fallbacks[3]: must be one model's id, not a wildcard",
      "models[2].fallbacks[5]: is named twice",
      "models[2].deployments: must have at least 1 item",
      "models[3].id: is taken already by models[2]",
      "models[3].deployments: is required",
      "models[4]: must be a mapping, not a number",
    ];
    for (const start of expected)
      expect(
        lines.filter((line) => line.startsWith(start)),
        start,
      ).toHaveLength(1);
    expect(lines[0]).toBe(`The configuration has ${expected.length} faults.`);
  });

  test("a fallback to a built-in model is one once the built-in models are left out", async () => {
    const model = "{ id: a, task: chat, fallbacks: [small-chat], deployments: [{ engine: llama-cpp, model: x }] }";
    await expect(loadConfigText(`models: [${model}]`)).resolves.toBeDefined();
    const yaml = `builtin_models: false\nmodels: [${model}]`;
    expect(await faultOfConfigText(yaml)).toContain('models[0].fallbacks[0]: names "small-chat"');
  });

  test("a value that may be of several kinds is told all of them", async () => {
    const yaml = "models: [{ id: a, task: chat, deployments: [{ engine: either, gpu: maybe }] }]\n";
    expect(await faultOfConfigText(yaml)).toContain("deployments[0].gpu: must be one of auto, cuda, or false (line 1)");
  });

  test("a file that is named must be there", async () => {
    expect(await faultOfConfigText(undefined, { PARLANCE_CONFIG: "other.yaml" })).toMatch(
      /^In \/.*\/other\.yaml:\n {2}cannot be read: there is no such file$/m,
    );
    expect(await faultOfConfigText(undefined, { PARLANCE_CONFIG: "." })).toContain("it is a directory");
  });

  test.each([
    ["an open quote", 'log_level: info\nserver: { host: "x }\n', /line \d+, column \d+: Missing closing/],
    ["a tab", "server:\n\thost: x\n", /line 2, column 1: Tabs/],
    ["a key that stands twice", "log_level: info\nlog_level: warn\n", /line 2, column 1: Map keys must be unique/],
    ["a variable without quotes in braces", "server: { host: ${HOST} }\n", /line 1, column \d+: .*needs quotes/],
    ["a list", "- models\n", /must be a mapping, not a list/],
    ["an anchor that holds itself", "models: &m [*m]\n", /models: is nested more than 32 levels deep/],
  ])("a syntax error says where: %s", async (_name, yaml, expected) => {
    expect(await faultOfConfigText(yaml)).toMatch(expected);
  });

  test("many anchors inside each other do not use up the memory", async () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}*l${i}]`);
    expect(await faultOfConfigText(`l0: &l0 [x]\n${levels.join("\n")}\n`)).toContain(
      "refers to its own anchors too often",
    );
  });

  test("a key with a meaning of its own in JavaScript is only an unknown key", async () => {
    expect(await faultOfConfigText("__proto__: { log_level: debug }\nconstructor: 1\n")).toContain(
      "__proto__: is not a known key",
    );
  });

  test("an engine named like a property of every object is unknown", async () => {
    const yaml = "models: [{ id: a, task: chat, deployments: [{ engine: constructor }] }]\n";
    expect(await faultOfConfigText(yaml)).toContain("models[0].deployments[0].engine: names no engine");
  });

  test("Kubernetes' own PARLANCE_PORT is explained, and its other names are let be", async () => {
    const links = { PARLANCE_SERVICE_HOST: "10.0.0.1", PARLANCE_PORT_8080_TCP_ADDR: "10.0.0.1" };
    await expect(loadConfigText(undefined, links)).resolves.toBeDefined();
    expect(await faultOfConfigText(undefined, { ...links, PARLANCE_PORT: "tcp://10.0.0.1:8080" })).toContain(
      "enableServiceLinks",
    );
  });

  test("a variable of the operator's own that the file uses is no misspelling", async () => {
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
    ["endless", `secret-${"x".repeat(2000)}`],
  ])("a first key is refused by its bound and never shown: %s", async (_name, key) => {
    for (const variable of ["PARLANCE_API_KEY", "PARLANCE_ADMIN_KEY"]) {
      const fault = await faultOfConfigText(undefined, { [variable]: key });
      expect(fault).toContain(`${variable}: must be 32 to 512 printable ASCII characters without white space`);
      expect(fault).not.toContain("secret-");
    }
  });

  test("the two first keys are taken at 32 characters and may not be equal", async () => {
    const { config } = await loadConfigText(undefined, { PARLANCE_API_KEY: good, PARLANCE_ADMIN_KEY: `${good}2` });
    expect([config.apiKey?.reveal(), config.adminKey?.reveal()]).toEqual([good, `${good}2`]);
    const fault = await faultOfConfigText(undefined, { PARLANCE_API_KEY: good, PARLANCE_ADMIN_KEY: good });
    expect(fault).toContain("PARLANCE_ADMIN_KEY: must not be the same as PARLANCE_API_KEY");
    expect(fault).not.toContain(good);
  });

  test("a variable's value shows in no fault, even where a message quotes it or it stands in the wrong place", async () => {
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
    expect(fault).toContain('fallbacks[0]: names "${SECRET}"');
  });

  test.each([
    'api_key: "sk-written-out\n',
    "api_key: sk-written-out: x\n",
    "a: |sk-written-out\n",
    "a: !sk-written-out b\n",
    "a: *sk-written-out\n",
    "a: [x] sk-written-out\n",
    "a: @sk-written-out\n",
  ])("a syntax error quotes nothing of the file: %s", async (yaml) => {
    expect(await faultOfConfigText(yaml)).not.toContain("written-out");
  });

  test("a database address shows in no fault", async () => {
    const fault = await faultOfConfigText(undefined, {
      DATABASE_URL: "mysql://u:hunter2@db/x",
      REDIS_URL: "hunter2",
      HF_TOKEN: "hunter2 ",
    });
    expect(fault).not.toContain("hunter2");
    expect(fault).toContain("has 3 faults");
  });

  test.each(["redis://cache/main", "redis://cache/1/2", "redis://:hunter%2@cache:6379"])(
    "%s, which the client of Redis would refuse, is a fault of the configuration",
    async (url) => {
      const fault = await faultOfConfigText(undefined, { REDIS_URL: url });
      expect(fault).toContain("REDIS_URL: may end in the number of a database");
      expect(fault).not.toContain("hunter");
    },
  );
});
