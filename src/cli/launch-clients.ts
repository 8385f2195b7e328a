/** Clients that `parlance launch` starts, and what each one needs to use a service. */

export interface LaunchTarget {
  /** URL of the service, without `/v1`. */
  origin: string;
  key: string;
  /** ID of the chat model; undefined where the client's own names of models have aliases. */
  model: string | undefined;
  /** Tokens; undefined where the service does not state it. */
  contextWindow: number | undefined;
}

export interface LaunchClient {
  title: string;
  program: string;
  /** Command that installs the program. */
  install: string;
  /** True for coding agents, which need tools and a large context window. */
  isAgent: boolean;
  /** A model that the client asks for by itself; without it, the client has no names of its own. */
  ownModel?: string;
  /** Parameters, which precede those of the user, and variables; undefined removes one. */
  start(target: LaunchTarget): { parameters: string[]; environment: Record<string, string | undefined> };
}

export const LAUNCH_CLIENTS: Readonly<Record<string, LaunchClient>> = {
  claude: {
    title: "Claude Code",
    program: "claude",
    isAgent: true,
    install: "npm install -g @anthropic-ai/claude-code",
    ownModel: "claude-sonnet-4-5",
    start: ({ origin, key, model }) => ({
      parameters: [],
      environment: {
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_AUTH_TOKEN: key,
        // Claude Code would ask which of the two to use.
        ANTHROPIC_API_KEY: undefined,
        // Begins the prompt with a text that differs in each conversation, which defeats prompt caches.
        CLAUDE_CODE_ATTRIBUTION_HEADER: "0",
        ...(model !== undefined && { ANTHROPIC_MODEL: model, ANTHROPIC_SMALL_FAST_MODEL: model }),
      },
    }),
  },
  codex: {
    title: "Codex",
    program: "codex",
    isAgent: true,
    install: "npm install -g @openai/codex",
    start: ({ origin, key, model = "", contextWindow }) => ({
      parameters: tomlOverrides({
        model,
        model_provider: "parlance",
        ...(contextWindow !== undefined && { model_context_window: contextWindow }),
        // It runs on OpenAI's servers.
        web_search: "disabled",
        "model_providers.parlance.name": "Parlance",
        "model_providers.parlance.base_url": `${origin}/v1`,
        "model_providers.parlance.env_key": "OPENAI_API_KEY",
      }),
      environment: { OPENAI_API_KEY: key },
    }),
  },
  opencode: {
    title: "opencode",
    program: "opencode",
    isAgent: true,
    install: "npm install -g opencode-ai",
    start: ({ origin, key, model = "" }) => {
      const provider = {
        name: "Parlance",
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${origin}/v1`, apiKey: "{env:OPENAI_API_KEY}" },
        models: { [model]: {} },
      };
      const settings = { model: `parlance/${model}`, provider: { parlance: provider } };
      return {
        parameters: [],
        environment: { OPENAI_API_KEY: key, OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) },
      };
    },
  },
  "open-webui": {
    title: "Open WebUI",
    program: "open-webui",
    isAgent: false,
    install: "pip install open-webui",
    start: ({ origin, key, model }) => ({
      parameters: ["serve"],
      environment: {
        OPENAI_API_BASE_URL: `${origin}/v1`,
        OPENAI_API_KEY: key,
        ENABLE_OLLAMA_API: "false",
        // Otherwise the first start would keep the key, which ends with this command.
        ENABLE_PERSISTENT_CONFIG: "false",
        ...(model !== undefined && { DEFAULT_MODELS: model }),
      },
    }),
  },
};

/** Renders Codex's overrides, whose values are TOML: its strings and numbers are written as in JSON. */
function tomlOverrides(values: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);
}
