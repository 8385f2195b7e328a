/** Runs of evals that the service does not survive. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: slow, task: chat, deployments: [{ engine: scripted, replies: [{ text: "a word", delay_ms_before_first: 600000 }] }] }
`;

test("fails a run during which the service died three times, and counts no regular stop", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-evals-"));
  const start = () => startServiceProcess({ config: CONFIG, environment: { PARLANCE_DATA_DIR: directory } });
  let service = await start();
  try {
    const { evals } = service.client();
    const { id: evalId } = await evals.create({
      name: "Words",
      data_source_config: { type: "custom", item_schema: { type: "object" } },
      testing_criteria: [
        { type: "string_check", name: "equal", input: "{{sample.output_text}}", reference: "x", operation: "eq" },
      ],
    });
    const template = [{ role: "user" as const, content: "Say a word." }];
    const messages = { type: "template" as const, template };
    const source = { type: "file_content" as const, content: [{ item: {} }] };
    const { id: runId } = await evals.runs.create(evalId, {
      data_source: { type: "completions", model: "slow", source, input_messages: messages },
    });
    const status = async (expected: string) => {
      const run = await service.client().evals.runs.retrieve(runId, { eval_id: evalId });
      expect(run.status).toBe(expected);
      return run;
    };
    for (const signal of ["SIGKILL", "SIGKILL", "SIGTERM", "SIGKILL"] as const) {
      await eventually(async () => {
        await status("in_progress");
        expect(await (await fetch(`${service.origin}/metrics`)).text()).toMatch(
          /parlance_slots_in_use\{.*"slow".*\} 1/,
        );
      });
      await service.stop(signal);
      service = await start();
    }
    await eventually(async () => {
      expect((await status("failed")).error).toMatchObject({ code: "service_ended" });
    });
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
});
