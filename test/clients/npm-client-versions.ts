/** Pinned versions of the command-line clients that the suite installs from npm, by package. */
export const NPM_CLIENT_VERSIONS = {
  "@anthropic-ai/claude-code": "2.1.330",
  "@continuedev/cli": "1.5.47",
  "@github/copilot": "1.0.102",
  "@google/gemini-cli": "0.61.0",
  "@kilocode/cli-linux-x64": "7.7.9",
  "@modelcontextprotocol/inspector": "2.12.0",
  "@moonshot-ai/kimi-code": "2.1.0",
  "@openai/agents-realtime": "0.20.0",
  "@openai/codex": "0.169.0",
  "@qwen-code/qwen-code": "0.24.4",
  cline: "3.0.65",
  "opencode-ai": "1.18.33",
  promptfoo: "0.123.1",
} as const;

export type NpmClient = keyof typeof NPM_CLIENT_VERSIONS;

export function isNpmClient(client: string): client is NpmClient {
  return Object.hasOwn(NPM_CLIENT_VERSIONS, client);
}
