/** `parlance import` beside a running service. */

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { startUsageUpstream } from "../support/upstreams/usage-upstream.ts";

const SECRET = "sk-4fTq9LmXw2Rk7Vb1Zs8Yd3Pc";

test("a LiteLLM configuration and its keys work after the import, within the key's budget", async () => {
  await using upstream = await startUsageUpstream();
  upstream.answer({ usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } });
  const service = await startServiceProcess();
  try {
    const path = (name: string) => join(service.dataDirectory, name);
    const environment = {
      PARLANCE_CONFIG: service.configFile,
      PARLANCE_DATA_DIR: service.dataDirectory,
      UPSTREAM: "x",
    };
    const run = (...words: string[]) => runParlance(words, { cwd: service.dataDirectory, environment });
    const source = `
model_list:
  - model_name: team-chat
    litellm_params: { model: openai/gpt-4.1, api_base: "${upstream.baseUrl}" }
    model_info: { input_cost_per_token: 0.000002, output_cost_per_token: 0.00001 }
general_settings: { master_key: sk-1234 }
`;
    await writeFile(path("litellm.yaml"), source);
    const converted = await run("import", "litellm", path("litellm.yaml"), "-o", path("new.yaml"));
    expect(converted).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("general_settings.master_key: is a secret"),
    });
    expect(await run("import", "litellm", path("litellm.yaml"), "-o", path("new.yaml"))).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining("it exists already") },
    });
    await writeFile(service.configFile, await readFile(path("new.yaml")));
    service.process.kill("SIGHUP");
    const models = () => new OpenAI({ baseURL: service.baseUrl, apiKey: service.apiKey }).models.list();
    await eventually(async () =>
      expect((await models()).data).toContainEqual(expect.objectContaining({ id: "team-chat" })),
    );

    const token = createHash("sha256").update(SECRET).digest("hex");
    const key = { token, key_name: "sk-...d3Pc", team_alias: "Research", max_budget: 0.01, budget_duration: "30d" };
    await writeFile(path("keys.json"), JSON.stringify({ keys: [key] }));
    expect(await run("import", "litellm-keys", path("keys.json"))).toMatchObject({
      ...{ code: 0, stdout: "1 key works from the next request on.\n" },
    });
    const client = new OpenAI({ baseURL: service.baseUrl, apiKey: SECRET, maxRetries: 0 });
    const chat = () =>
      client.chat.completions.create({
        ...{ model: "team-chat", max_tokens: 100, messages: [{ role: "user" as const, content: "Hi" }] },
      });
    // 1,000 × $0.000002 + 100 × $0.00001 = $0.003 of one cent.
    for (let request = 0; request < 3; request += 1) expect((await chat()).usage?.total_tokens).toBe(1100);
    await expect(chat()).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
  } finally {
    await service.stop();
  }
});
