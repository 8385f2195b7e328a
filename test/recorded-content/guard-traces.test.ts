/** What a model is asked on behalf of a guardrail has the texts of the request: traces have them as little as its own. */

import type OpenAI from "openai";
import { expect, test } from "vitest";
import { startOtlpReceiver } from "../support/observability/otlp-receiver.ts";
import { startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

test("the questions of guardrails are in no trace of a project that keeps nothing", async () => {
  await using receiver = await startOtlpReceiver();
  const service = await startService({
    config: `
builtin_models: false
opentelemetry: { content: { redact: none } }
models:
  - { id: judge, task: chat, deployments: [{ engine: scripted, replies: [{ text: "0" }] }] }
  - id: local
    task: chat
    guardrails: [{ type: topics, rules: [No lawsuits.], model: judge }]
    deployments: [{ engine: scripted, echo: true }]
`,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
  });
  const ask = (content: string) =>
    service.client().chat.completions.create({ model: "local", messages: [{ role: "user", content }] });
  await ask("Badgers dig.");
  const admin = administrator(service);
  type Retention = OpenAI.Admin.Organization.DataRetentionUpdateParams["retention_type"];
  await admin.dataRetention.update({ retention_type: "zero_data_retention" as Retention });
  await ask("Otters swim.");
  await service.stop();
  const received = receiver.bytes().toString("latin1");
  expect(received).toContain('Text:\\n\\"\\"\\"\\nBadgers dig.');
  expect(received).not.toContain("Otters");
});
