/** Providers of LiteLLM whose APIs a deployment speaks. */

interface Provider {
  /** Undefined: the configuration has to name it. */
  baseUrl?: string;
  /** Environment variable in which LiteLLM looks for the key. */
  keyVariable?: string;
  /** Settings of the deployment. */
  settings?: Readonly<Record<string, unknown>>;
  /** Has no API like OpenAI's, only the one that an engine of its name speaks. */
  isNative?: true;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { baseUrl: "https://api.openai.com/v1", keyVariable: "OPENAI_API_KEY" },
  "text-completion-openai": {
    ...{ baseUrl: "https://api.openai.com/v1", keyVariable: "OPENAI_API_KEY" },
    settings: { abilities: { completions: true } },
  },
  anthropic: { baseUrl: "https://api.anthropic.com/v1", keyVariable: "ANTHROPIC_API_KEY" },
  gemini: { baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai", keyVariable: "GEMINI_API_KEY" },
  mistral: { baseUrl: "https://api.mistral.ai/v1", keyVariable: "MISTRAL_API_KEY" },
  codestral: { baseUrl: "https://codestral.mistral.ai/v1", keyVariable: "CODESTRAL_API_KEY" },
  groq: { baseUrl: "https://api.groq.com/openai/v1", keyVariable: "GROQ_API_KEY" },
  deepseek: { baseUrl: "https://api.deepseek.com/v1", keyVariable: "DEEPSEEK_API_KEY" },
  xai: { baseUrl: "https://api.x.ai/v1", keyVariable: "XAI_API_KEY" },
  openrouter: { baseUrl: "https://openrouter.ai/api/v1", keyVariable: "OPENROUTER_API_KEY" },
  perplexity: { baseUrl: "https://api.perplexity.ai", keyVariable: "PERPLEXITYAI_API_KEY" },
  together_ai: { baseUrl: "https://api.together.xyz/v1", keyVariable: "TOGETHERAI_API_KEY" },
  fireworks_ai: { baseUrl: "https://api.fireworks.ai/inference/v1", keyVariable: "FIREWORKS_AI_API_KEY" },
  cerebras: { baseUrl: "https://api.cerebras.ai/v1", keyVariable: "CEREBRAS_API_KEY" },
  deepinfra: { baseUrl: "https://api.deepinfra.com/v1/openai", keyVariable: "DEEPINFRA_API_KEY" },
  nvidia_nim: { baseUrl: "https://integrate.api.nvidia.com/v1", keyVariable: "NVIDIA_NIM_API_KEY" },
  moonshot: { baseUrl: "https://api.moonshot.ai/v1", keyVariable: "MOONSHOT_API_KEY" },
  voyage: { baseUrl: "https://api.voyageai.com/v1", keyVariable: "VOYAGE_API_KEY" },
  jina_ai: { baseUrl: "https://api.jina.ai/v1", keyVariable: "JINA_AI_API_KEY" },
  ollama: { baseUrl: "http://127.0.0.1:11434/v1" },
  ollama_chat: { baseUrl: "http://127.0.0.1:11434/v1" },
  azure: { keyVariable: "AZURE_API_KEY" },
  azure_ai: { keyVariable: "AZURE_AI_API_KEY", isNative: true },
  bedrock: { isNative: true },
  bedrock_converse: { isNative: true },
  vertex_ai: { isNative: true },
  vertex_ai_beta: { isNative: true },
  cohere: { keyVariable: "COHERE_API_KEY", isNative: true },
  cohere_chat: { keyVariable: "COHERE_API_KEY", isNative: true },
  hosted_vllm: {},
  vllm: {},
  openai_like: {},
  custom_openai: {},
  litellm_proxy: {},
  lm_studio: {},
  llamafile: {},
  xinference: {},
  infinity: {},
};

/** Providers with an API of their own, which no deployment speaks. */
const OTHERS = new Set([
  ...["sagemaker", "sagemaker_chat", "huggingface", "replicate", "watsonx", "databricks", "cloudflare", "predibase"],
  ...["nlp_cloud", "aleph_alpha", "petals", "baseten", "triton", "snowflake", "github", "palm", "ai21", "oci"],
  ...["auto_router"],
]);

export interface Resolved extends Provider {
  name: string;
  /** The provider's ID of the model. */
  model: string;
  /** Whether the model has a prefix that is not the name of a provider. */
  isAssumed: boolean;
}

/** Undefined for a provider whose API no deployment speaks. */
export function resolveProvider(model: string, customProvider: string | undefined): Resolved | { unsupported: string } {
  const [prefix = "", ...rest] = model.split("/");
  const name =
    customProvider ?? (rest.length > 0 && (Object.hasOwn(PROVIDERS, prefix) || OTHERS.has(prefix)) ? prefix : "openai");
  if (OTHERS.has(name)) return { unsupported: name };
  const provider = PROVIDERS[name];
  if (provider === undefined) return { unsupported: name };
  const hasPrefix = model.startsWith(`${name}/`);
  return {
    ...{ ...provider, name, model: hasPrefix ? model.slice(name.length + 1) : model },
    isAssumed: rest.length > 0 && !hasPrefix && customProvider === undefined,
  };
}
