// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the file's own syntax are what is tested
import { describe, expect, test } from "vitest";
import { loadConfigText } from "../../test/support/service/load-config-text.ts";

const FILE = `
server: { console: false, port: 9000 }
log_level: warn
models:
  - id: team-chat
    task: chat
    deployments:
      - engine: openai-compatible
        base_url: http://10.0.0.5:8000/v1
        api_key: \${UPSTREAM_KEY}
        headers: { x-team: header-secret }
`;

const SECRETS = {
  UPSTREAM_KEY: "sk-upstream-secret",
  DATABASE_URL: "postgres://user:database-secret@db/parlance",
  PARLANCE_ADMIN_KEY: `sk-admin-secret-${"x".repeat(32)}`,
  PARLANCE_ENCRYPTION_KEY: `encryption-secret-${"x".repeat(32)}`,
  HF_TOKEN: "hf_secret",
};

async function settingsOf(text: string | undefined, environment: Record<string, string> = {}) {
  const { config } = await loadConfigText(text, environment);
  const byKey = new Map(config.effective.list().settings.map((setting) => [setting.key, setting]));
  return { config, of: (key: string) => byKey.get(key) };
}

describe("settings in force", () => {
  test("name where each value comes from, and its documentation", async () => {
    const { of, config } = await settingsOf(FILE, { UPSTREAM_KEY: "x", PARLANCE_PORT: "9100" });
    expect(of("server.console")).toMatchObject({ value: false, default: true, source: "file" });
    expect(of("server.console")?.description).toContain("console");
    expect(of("server.port")).toMatchObject({ value: 9100, default: 8080, source: "environment" });
    expect(of("server.drain_seconds")).toMatchObject({ value: 30, default: 30, source: "default" });
    expect(of("data_directory")).toMatchObject({ value: config.dataDirectory });
    expect(of("REDIS_URL")).toMatchObject({ value: null, source: "default" });
    expect(config.effective.list().settings.filter(({ description }) => description === "")).toEqual([]);
  });

  test("contain no secret of the environment, of the file or of an upstream", async () => {
    const { of, config } = await settingsOf(FILE, SECRETS);
    const shown = JSON.stringify(config.effective.list());
    expect(shown).not.toMatch(/-secret|hf_secret/);
    for (const key of ["DATABASE_URL", "PARLANCE_ADMIN_KEY", "HF_TOKEN"]) {
      expect(of(key)).toMatchObject({ value: "[redacted]", source: "environment" });
    }
    expect(config.effective.list().models).toMatchObject([
      { id: "team-chat", deployments: [{ engine: "openai-compatible", base_url: "http://10.0.0.5:8000/v1" }] },
    ]);
  });

  test("keep values that need a restart when the file is reloaded", async () => {
    const { config: before } = await settingsOf("server: { port: 9000 }\nlog_level: warn\n");
    const { config: after } = await settingsOf("server: { port: 9001 }\nlog_level: debug\n");
    const { settings } = before.effective.replacedBy(after.effective).list();
    expect(settings.find(({ key }) => key === "server.port")).toMatchObject({ value: 9000 });
    expect(settings.find(({ key }) => key === "log_level")).toMatchObject({ value: "debug" });
  });
});
