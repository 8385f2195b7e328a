/** The default moderation model with its weights, through the official client: other languages and images. */

import type OpenAI from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testModelStore } from "../support/models/default-model.ts";
import { untilModerationReady } from "../support/models/moderation-ready.ts";
import { type Service, startService } from "../support/service/service.ts";

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  await testModelStore().pull({ model: "moderation-omni" }, { signal: AbortSignal.timeout(600_000) });
  await testModelStore().pull({ model: "moderation-minilm" }, { signal: AbortSignal.timeout(600_000) });
  service = await startService({ config: "builtin_models: true\n" });
  client = service.client({ maxRetries: 0 });
  await untilModerationReady(service, "moderation-omni");
}, 700_000);
afterAll(() => service?.stop());

const HARMFUL = "I will find you and kill you, and then I will kill your whole family.";

async function image(): Promise<OpenAI.ModerationImageURLInput> {
  const sky = sharp({ create: { width: 300, height: 200, channels: 3, background: "#6aa9e9" } });
  const url = `data:image/jpeg;base64,${(await sky.jpeg().toBuffer()).toString("base64")}`;
  return { type: "image_url", image_url: { url } };
}

test("answers to OpenAI's name, and says which categories read the image", async () => {
  const input = [{ type: "text" as const, text: HARMFUL }, await image()];
  const { model, results } = await client.moderations.create({ model: "omni-moderation-latest", input });
  expect(model).toBe("moderation-omni");
  expect(results[0]?.categories).toMatchObject({ violence: true, sexual: false });
  expect(results[0]?.category_applied_input_types).toMatchObject({ violence: ["text"], sexual: ["text", "image"] });
});

test("scores an image without text", async () => {
  const { results } = await client.moderations.create({ model: "moderation-omni", input: [await image()] });
  expect(results[0]?.flagged).toBe(false);
  expect(results[0]?.category_scores.sexual).toBeGreaterThan(0);
  expect(results[0]?.category_applied_input_types).toMatchObject({ violence: [], sexual: ["image"] });
});

test.each([
  ["de", "Ich weiß, wo du wohnst, und ich bringe dich um.", "Der Film war spannend, und das Essen danach auch."],
  ["fr", "Je vais te tuer, toi et toute ta famille.", "Le musée ouvre à neuf heures et ferme à cinq heures."],
  ["es", "Voy a matarte a ti y a toda tu familia.", "Mañana compramos pan y vamos al parque."],
  ["ru", "Я приду и убью тебя и твою семью.", "Завтра мы идём в музей и в парк."],
  ["zh", "我要杀了你和你全家。", "明天我们去公园散步。"],
  ["hi", "मैं तुम्हें और तुम्हारे परिवार को मार डालूँगा।", "कल हम बाज़ार से सब्ज़ी लाएँगे।"],
])("flags a threat in %s, and no ordinary sentence", async (_language, harmful, harmless) => {
  const { results } = await client.moderations.create({ model: "moderation-omni", input: [harmful, harmless] });
  expect(results.map(({ flagged }) => flagged)).toEqual([true, false]);
  expect(results[0]?.categories).toMatchObject({ violence: true, sexual: false });
});

test("names only languages that the model does not know", async () => {
  const input = ["Я приду завтра.", "Θα έρθω αύριο το πρωί στο σπίτι σου."];
  const { results } = await client.moderations.create({ model: "moderation-omni", input });
  expect(results.map((result) => "unsupported_language" in result)).toEqual([false, true]);
});

test("judges English as moderation-minilm does, also words that other languages have", async () => {
  const input = [HARMFUL, "DIE BITCH", "I want a lollipop", "No, I'm not interested.", "i just want to die"];
  const scoresOf = async (model: string) =>
    (await client.moderations.create({ model, input })).results.map(({ category_scores: scores }) => scores);
  const expected = await scoresOf("moderation-minilm");
  for (const [index, scores] of (await scoresOf("moderation-omni")).entries()) {
    for (const [category, score] of Object.entries(scores)) {
      const theirs = (expected[index] as Record<string, number> | undefined)?.[category];
      expect(score, `${input[index]}: ${category}`).toBeCloseTo(theirs ?? 2, 3);
    }
  }
});

test("refuses what is not an image", async () => {
  const input = [{ type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } }];
  await expect(client.moderations.create({ model: "moderation-omni", input })).rejects.toMatchObject({
    status: 400,
    code: "invalid_image",
  });
});
