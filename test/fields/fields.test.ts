/** Each field of the documents of OpenAI, Anthropic, Cohere, Mistral, Jina and Voyage has a decision, which the service keeps. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIELD_DECISIONS } from "../../scripts/fields/decisions.ts";
import { FIELD_GROUPS, type FieldGroup } from "../../scripts/fields/groups.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { CONFIG } from "./config.ts";
import { type RecordingUpstream, startRecordingUpstream } from "./recording-upstream.ts";
import { sendField } from "./send-field.ts";
import { VALUES } from "./values.ts";

let upstream: RecordingUpstream;
let service: InProcessService;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  service = await startService({ config: CONFIG(upstream.baseUrl) });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});

/** Models in the order of the decisions. */
function modelsOf({ task }: FieldGroup): readonly (string | undefined)[] {
  if (task === undefined) return [undefined];
  // No engine of tests embeds texts.
  return task === "embedding" || task === "rerank" ? [`far-${task}`] : [`local-${task}`, `far-${task}`];
}

describe.each(Object.entries(FIELD_GROUPS))("%s", (key, group) => {
  const decisions = FIELD_DECISIONS[key] ?? {};

  test("has a decision for each field of the document, and no other", () => {
    expect(Object.keys(decisions).toSorted()).toEqual([...group.names].toSorted());
  });

  test.each(Object.entries(decisions))("decides %s: %j", async (name, expected) => {
    const value = VALUES[`${key}.${name}`] ?? VALUES[name];
    if (name !== "model") expect(value, "a value in values.ts").toBeDefined();
    const outcomes: string[] = [];
    for (const model of modelsOf(group)) {
      const { decision } = await sendField({ service, upstream }, group, { name, value }, model);
      outcomes.push(decision);
    }
    expect(outcomes).toEqual(expected);
  });
});
