import { anthropicCase } from "./anthropic-case.ts";
import { azureCase } from "./azure-case.ts";
import { bedrockCase } from "./bedrock-case.ts";
import { cohereCase } from "./cohere-case.ts";
import { geminiCase } from "./gemini-case.ts";
import { mistralCase } from "./mistral-case.ts";
import type { ProviderCase } from "./provider-case.ts";
import { vertexCase } from "./vertex-case.ts";

export const PROVIDER_CASES: readonly ProviderCase[] = [
  ...[anthropicCase, azureCase, bedrockCase, cohereCase, geminiCase, mistralCase, vertexCase],
];

export function nameOf({ name, engine }: ProviderCase): string {
  return name ?? engine;
}
