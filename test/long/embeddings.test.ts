import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

let service: ServiceProcess;
beforeAll(async () => {
  const model = "{ id: minilm, task: embedding, deployments: [{ engine: sentence-embeddings }] }";
  service = await startServiceProcess({ config: `builtin_models: false\nmodels: [${model}]\n` });
});
afterAll(() => service.stop());

const embed = async (input: string | string[]) =>
  (await service.client().embeddings.create({ model: "minilm", input })).data.map(({ embedding }) => embedding);

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0) / (Math.hypot(...a) * Math.hypot(...b));
}

test("embeds 2,048 texts in one request, in order", async () => {
  const texts = Array.from({ length: 2048 }, (_, index) => `number ${index} ${"word ".repeat(index % 7)}`);
  const vectors = await embed(texts);
  expect(vectors).toHaveLength(2048);
  const [single] = await embed(texts[1234] ?? "");
  expect(cosine(vectors[1234] ?? [], single ?? [])).toBeGreaterThan(0.99999);
});
