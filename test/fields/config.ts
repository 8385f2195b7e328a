/** A local model and one of an upstream for each task. */
export const CONFIG = (baseUrl: string) => `
builtin_models: false
mcp: { caller_servers: refuse }
code_interpreter: { sandbox: process }
models:
  - id: local-chat
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, json_schema: true, reasoning: true, logprobs: true, choices: 4, completions: true, infill: true }
        replies: [{ text: "{}" }]
  - { id: local-moderation, task: moderation, deployments: [{ engine: classifier }] }
  - { id: local-speech, task: speech, deployments: [{ engine: scripted, speech: {} }] }
  - { id: local-transcription, task: transcription, deployments: [{ engine: scripted, replies: [{ text: Hello. }] }] }
  - { id: local-image, task: image, deployments: [{ engine: scripted, echo: true }] }
${["chat", "embedding", "rerank", "moderation", "speech", "transcription", "image"].map((task) => upstreamModel(task, baseUrl)).join("\n")}
`;

function upstreamModel(task: string, baseUrl: string): string {
  const abilities =
    task === "chat"
      ? ", abilities: { tools: true, completions: true, responses: false, messages: false }"
      : task === "rerank"
        ? ", abilities: { rerank: true }"
        : "";
  return `  - { id: far-${task}, task: ${task === "rerank" ? "embedding" : task}, deployments: [{ engine: openai-compatible, base_url: "${baseUrl}", model: far${abilities} }] }`;
}
