import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { RealtimeClient } from "../support/service/realtime-client.ts";
import { startService } from "../support/service/service.ts";
import { checkNulls, typedAnswers } from "../support/wire/check-answer-nulls.ts";
import { recordedAnswers } from "../support/wire/recorded-answers.ts";
import { sdkOperations } from "../support/wire/sdk-operations.ts";

const OPERATIONS = [...sdkOperations("openai", "/v1"), ...sdkOperations("@anthropic-ai/sdk", "")];
const REALTIME = fileURLToPath(new URL("../../node_modules/openai/resources/realtime/realtime.js", import.meta.url));

test("recorded answers have no null where the official SDKs have none", async () => {
  const answers = typedAnswers(
    recordedAnswers().filter(({ status }) => status.startsWith("2")),
    OPERATIONS,
  );
  expect(answers.length).toBeGreaterThan(390);
  expect(await checkNulls(answers)).toEqual([]);
});

test("events of a realtime session have no null where the official SDK has none", async () => {
  const service = await startService({
    config: `
builtin_models: false
models:
  - { id: agent, task: chat, deployments: [{ engine: scripted, replies: [{ text: Hello. }] }] }
  - { id: speech, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - { id: listen, task: transcription, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
`,
  });
  onTestFinished(async () => void (await service.stop()));
  const client = await RealtimeClient.connect(service, { query: "model=agent" });
  const session = { type: "realtime", output_modalities: ["text"] };
  const content = [{ type: "input_text", text: "Hello" }];
  client.send({ type: "session.update", session });
  client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  client.send({ type: "response.create", event_id: "first", response: { conversation: "none" } });
  client.send({ type: "response.create", event_id: "second" });
  await client.next("response.done");
  client.send({ type: "response.create" });
  await client.next("response.done");
  await client.close();
  const type = `Optional<import(${JSON.stringify(REALTIME)}).RealtimeServerEvent>`;
  const events = client.events.map((event) => ({
    title: event.type,
    type,
    json: JSON.stringify(event, withoutDocumentedNull),
  }));
  expect(new Set(events.map(({ title }) => title))).toContain("response.done");
  expect(await checkNulls(events)).toEqual([]);
});

/** "If `none`, the response will not be added to any conversation and the value of `conversation_id` will be `null`." */
function withoutDocumentedNull(key: string, value: unknown): unknown {
  return key === "conversation_id" && value === null ? undefined : value;
}
