/** Large requests and answers leave the event loop free while guardrails search them: CPU time between two turns. */

import { Placeholders } from "@parlance-inference/text-privacy/placeholders";
import { expect, test } from "vitest";
import { expectTurnsBelow } from "../../../test/support/service/longest-turn.ts";
import type { ChatEvent } from "../../contracts/chat-model.ts";
import { guardrailList } from "../../contracts/guardrail.ts";
import type { ChannelText } from "./channels.ts";
import { guardEvents } from "./guard-events.ts";
import { guardToolCall } from "./guard-tool.ts";
import { type GuardContext, guardTexts } from "./guarded-texts.ts";
import { GuardrailReport } from "./guardrail-report.ts";
import { outputTransforms } from "./output-transforms.ts";

const MAX_TURN_MS = 100;
const LENGTH = 5_000_000;
const SENTENCE = "Mail ada.lovelace@example.com about card 4111 1111 1111 1111, C4 and S3. ";
const POLICY = guardrailList.parse([{ type: "pii", entities: ["EMAIL_ADDRESS", "CREDIT_CARD"] }]);

function context(): GuardContext {
  const refuse = () => Promise.reject(new Error("no other service is asked"));
  return {
    project: "project",
    services: { analyze: refuse, ask: refuse },
    report: new GuardrailReport(),
    signal: new AbortController().signal,
    param: "messages",
    judge: { complete: refuse, requested: { model: "parrot", organizationId: "org_a", projectId: undefined } },
  };
}

const repeat = (unit: string) => unit.repeat(Math.ceil(LENGTH / unit.length));
const list = (length: number, itemOf: (index: number) => string) => Array.from({ length }, (_, index) => itemOf(index));

const REQUESTS: Record<string, () => string[]> = {
  "60,000 short messages": () => list(60_000, () => SENTENCE),
  "messages that may go on in the next one": () => list(60_000, () => "Mail ada.lovelace@exam"),
  "a document of JSON": () => [JSON.stringify({ note: repeat(SENTENCE) })],
  "200,000 addresses in JSON": () => [JSON.stringify(list(200_000, (index) => `ada${index}@example.com`))],
};

test.each(Object.entries(REQUESTS))("searches %s of 5 MB without a long turn", async (_name, textsOf) => {
  // The module of the patterns and a thread are loaded by the first request.
  await guardTexts(POLICY, [{ text: repeat("x "), kind: "prompt" }], context());
  const inputs = textsOf().map((text): ChannelText => ({ text, kind: "prompt" }));
  let output: readonly string[] = [];
  await expectTurnsBelow(MAX_TURN_MS, async () => {
    output = (await guardTexts(POLICY, inputs, context())).texts;
  });
  expect(output).toHaveLength(inputs.length);
  expect(output.some((text) => text.includes("@example.com"))).toBe(false);
});

test.each(["text", "tool-arguments"] as const)("searches an answer of 5 MB that arrives at once: %s", async (type) => {
  const policy = guardrailList.parse([{ type: "pii", action: "mask", on: ["output"] }]);
  async function* answer(): AsyncGenerator<ChatEvent, void> {
    yield { type, choice: 0, index: 0, text: repeat(SENTENCE) } as ChatEvent;
    yield { type: "choice-end", choice: 0, reason: "stop" };
  }
  const guarded = () =>
    guardEvents(answer(), {
      choices: 1,
      transformsFor: () =>
        outputTransforms(policy, new Placeholders(), context(), { form: "text", isComplete: type !== "text" }),
      onBlocked: () => {
        throw new Error("nothing is blocked");
      },
      onFailed: () => {},
      restore: (text) => text,
      keepsLogprobs: false,
    });
  let text = "";
  await expectTurnsBelow(MAX_TURN_MS, async () => {
    text = "";
    for await (const event of guarded()) if (event.type === type) text += event.text;
  });
  expect(text.split("<EMAIL_ADDRESS>")).toHaveLength(repeat(SENTENCE).length / SENTENCE.length + 1);
});

test("searches a list of 1,000 results of 5 MB together without a long turn", async () => {
  const policy = guardrailList.parse([{ type: "pii", action: "mask", on: ["output"] }]);
  const description = repeat(SENTENCE).slice(0, LENGTH / 1000);
  const texts = list(1000, (index) => JSON.stringify({ name: `tool ${index}`, description }));
  const { guardResult } = await guardToolCall({ policy, context: context() }, {}, "client");
  let output: readonly string[] = [];
  await expectTurnsBelow(MAX_TURN_MS, async () => {
    output = await guardResult(texts);
  });
  expect(output).toHaveLength(texts.length);
  expect(output.every((text) => text.includes("<EMAIL_ADDRESS>") && !text.includes("@example.com"))).toBe(true);
});

test("restores an answer of 5 MB that arrives at once without a long turn", async () => {
  const placeholders = new Placeholders();
  const masked = placeholders.mask("ada@example.com", [{ type: "EMAIL_ADDRESS", start: 0, end: 15, score: 1 }]);
  let text = "";
  await expectTurnsBelow(MAX_TURN_MS, async () => {
    text = "";
    const [transform] = outputTransforms([], placeholders, context(), { form: "text", isComplete: false });
    for (let part = 0; part < 4; part += 1) text += await transform?.push(repeat(`Mail ${masked}. `));
    text += await transform?.end();
  });
  expect(text).not.toContain(masked);
});
