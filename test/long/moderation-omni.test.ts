/** moderation-omni with its weights, through the official client. Downloads 115 MB once. */

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
  service = await startService({ config: "" });
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

test("refuses what is not an image", async () => {
  const input = [{ type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } }];
  await expect(client.moderations.create({ model: "moderation-omni", input })).rejects.toMatchObject({
    status: 400,
    code: "invalid_image",
  });
});
