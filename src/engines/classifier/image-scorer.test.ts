/** The image scorer with a small network: the probability grows with the mean of the red channel. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OnnxGraphBuilder } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ImageScorer } from "./image-scorer.ts";

const until = AbortSignal.timeout(30_000);
let folder: string;
let scorer: ImageScorer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "image-scorer-"));
  const graph = new OnnxGraphBuilder("red", "");
  const pixels = graph.input("pixels", "float32", [1, 224, 224, 3]);
  const mean = graph.node("ReduceMean", [pixels, graph.integers([1, 2])], { keepdims: 0 });
  // Channels are blue, green, red without their means; the second output is positive for red.
  const weights = graph.floats(Float32Array.of(0, 0, 0, 0, 0, 1 / 20), [3, 2]);
  graph.output(graph.node("Softmax", [graph.node("MatMul", [mean, weights])], { axis: -1 }), "probabilities");
  await writeFile(join(folder, "network.onnx"), graph.toBytes());
  scorer = await ImageScorer.open(join(folder, "network.onnx"), 1);
});
afterAll(async () => {
  await scorer?.close();
  await rm(folder, { recursive: true });
});

async function image(background: string, format: "png" | "jpeg" | "webp" | "gif" = "png", width = 40): Promise<string> {
  const pixels = sharp({ create: { width, height: 30, channels: 4, background } });
  return `data:image/${format};base64,${(await pixels.toFormat(format).toBuffer()).toString("base64")}`;
}

test.each(["png", "jpeg", "webp", "gif"] as const)("scores the colors of a %s", async (format) => {
  // Probabilities of 1 / (1 + exp(-(255 - 123) / 20)), and less for blue.
  expect(await scorer.score([await image("#ff0000", format)], until)).toBeGreaterThan(0.99);
  expect(await scorer.score([await image("#0000ff", format)], until)).toBeLessThan(0.01);
});

test("has the threshold 0.5 where the network says 0.8", async () => {
  const red = Math.round(123 + 20 * Math.log(4));
  expect(await scorer.score([await image(`rgb(${red}, 123, 123)`)], until)).toBeCloseTo(0.5, 1);
});

test("scores transparency as white, gray images in three channels, and several images by the highest", async () => {
  expect(await scorer.score([await image("rgba(0, 0, 0, 0)")], until)).toBeGreaterThan(0.99);
  const gray = await sharp({ create: { width: 9, height: 9, channels: 3, background: "black" } })
    .grayscale()
    .png();
  const black = `data:image/png;base64,${(await gray.toBuffer()).toString("base64")}`;
  expect(await scorer.score([black], until)).toBeLessThan(0.01);
  expect(await scorer.score([black, await image("#ff0000")], until)).toBeGreaterThan(0.99);
});

test.each([
  ["https://example.com/cat.png", "invalid_image_url", "data URL"],
  ["data:image/png;base64,AAAA", "invalid_image", "cannot be read"],
  ["data:image/png;base64,", "invalid_image", "cannot be read"],
])("refuses %j", async (url, code, reason) => {
  const refusal = { kind: "invalid-request", param: "input", code, message: expect.stringContaining(reason) };
  await expect(scorer.score([url], until)).rejects.toMatchObject(refusal);
});
