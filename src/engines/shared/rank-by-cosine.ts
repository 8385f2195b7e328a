import type { EmbeddingModel, RerankRequest, RerankResult } from "../../contracts/embedding-model.ts";

/** Scores documents by the cosine of their vectors and the query's. Throws what `embed` throws. */
export async function rankByCosine(
  model: EmbeddingModel,
  { query, documents, ...request }: RerankRequest,
  signal: AbortSignal,
): Promise<RerankResult> {
  const { values, dimensions, promptTokens, estimated } = await model.embed(
    {
      ...request,
      inputs: [query, ...documents],
      purpose: "ranking",
      dimensions: undefined,
      usesOpenAiName: false,
      tokenIds: undefined,
      encoding: "base64",
      user: undefined,
    },
    signal,
  );
  const vectorAt = (index: number) => values.subarray(index * dimensions, (index + 1) * dimensions);
  const queryVector = vectorAt(0);
  return { scores: documents.map((_, index) => cosine(queryVector, vectorAt(index + 1))), promptTokens, estimated };
}

function cosine(one: Float32Array, other: Float32Array): number {
  let dot = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  for (const [index, value] of one.entries()) {
    const paired = other[index] ?? 0;
    dot += value * paired;
    oneSquared += value * value;
    otherSquared += paired * paired;
  }
  const length = Math.sqrt(oneSquared * otherSquared);
  return length === 0 ? 0 : dot / length;
}
