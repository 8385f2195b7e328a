/** A guard on the service's llama.cpp engine, with the default chat model's real weights. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilModerationReady } from "../support/models/moderation-ready.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

/**
 * The model is not a guard and its verdicts are meaningless: examples make it answer in a guard's format. Without the
 * policies, the prompts take a third of the time.
 */
const YES_OR_NO = `{% for message in messages %}{{ message.content.split("<end_of_turn>")[0] }}
{% endfor %}Question: Is snow cold?
Answer: Yes
Question: Is fire cold?
Answer: No
Question: Does it violate the above principle?
Answer:`;

let directory: TemporaryDirectory;
let service: Service;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const template = join(directory.path, "yes-or-no.jinja");
  await writeFile(template, YES_OR_NO);
  const chat = {
    engine: "llama-cpp",
    model: "smollm2-135m-instruct",
    gpu: false,
    context_size: 1024,
    chat_template_file: template,
  };
  const deployments = [{ engine: "guard", family: "shieldgemma", chat }];
  const models = [{ id: "guard", task: "moderation", deployments }];
  service = await startService({ config: JSON.stringify({ builtin_models: false, models }) });
  await untilModerationReady(service, "guard");
});
afterAll(async () => {
  await service.stop();
  await directory[Symbol.asyncDispose]();
});

test("scores by the probabilities of Yes and No, not by the sampled word", async () => {
  const input = ["I will find you and kill you.", "Please send me the minutes."];
  const { results } = await service.client().moderations.create({ model: "guard", input });
  const scores = results.map((result) => result.category_scores.harassment);
  for (const score of scores) {
    expect(score).toBeGreaterThan(0.001);
    expect(score).toBeLessThan(0.999);
  }
  expect(scores[0]).not.toBe(scores[1]);
});
