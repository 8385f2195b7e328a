/** Every operation's status, headers and body, byte for byte. `vitest run test/wire/wire-recordings.test.ts -u` records intended changes. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { WireRecorder } from "../support/wire/wire-recorder.ts";
import { WIRE_SCRIPTS } from "../support/wire/wire-scripts.ts";

const scripted = (failure: string) => `
        engine: scripted
        abilities: { tools: true, reasoning: true, logprobs: true, choices: 4 }
        echo: true
        replies:
          - { match: weather, text: "Looking.", tool_calls: [{ name: weather, arguments: { city: Paris } }] }
          - { match: think, reasoning: "Two thoughts.", text: "Thought." }
          - { match: fails, fail_after_tokens: 0, fail_with: ${failure} }
          - { match: breaks, text: "one two three", fail_after_tokens: 2, fail_with: { kind: upstream-failed, message: "Broken." } }
`;
/** The failures of a script open no circuit. */
const CIRCUIT = "circuit: { failures: 1000, failure_rate: 1 }";
const UPSTREAM = `
builtin_models: false
models:
  - id: remote
    task: chat
    ${CIRCUIT}
    deployments:
      -${scripted('{ kind: upstream-failed, message: "Down." }')}
`;
const guard = `engine: guard, family: llama-guard-3, chat: { engine: scripted, replies: [{ match: zebra, text: "unsafe\\nS1" }, { text: safe }] }`;

const configOf = (upstream: Service) => `
builtin_models: false
ollama: { enabled: true }
mail: { host: 127.0.0.1, port: 9, from: parlance@example.com }
server: { cors_origins: ["https://page.example"] }
models:
  - id: parrot
    task: chat
    aliases: [parakeet]
    ${CIRCUIT}
    price: { prompt: "0.001", completion: "0.01" }
    deployments:
      -${scripted('{ kind: unavailable, message: "Down.", retry_after_seconds: 3 }')}
  - id: native
    task: chat
    ${CIRCUIT}
    deployments:
      - engine: openai-compatible
        base_url: "${upstream.baseUrl}"
        api_key: "${upstream.apiKey}"
        model: remote
        abilities: { tools: true, responses: true, messages: true, completions: true }
  - { id: spare, task: chat, deployments: [{ engine: scripted, echo: true, process: child, load: start }] }
  - { id: minilm, task: embedding, deployments: [{ engine: sentence-embeddings }] }
  - { id: judge, task: moderation, deployments: [{ ${guard} }] }
  - { id: speech, task: speech, deployments: [{ engine: scripted, speech: { voices: [low, high] } }] }
  - { id: paint, task: image, deployments: [{ engine: scripted, replies: [{ match: fails, fail_after_tokens: 0 }, {}] }] }
  - { id: listen, task: transcription, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
`;

let upstream: Service;
let service: Service;
beforeAll(async () => {
  upstream = await startService({ config: UPSTREAM });
  service = await startService({ config: configOf(upstream) });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

test.each(Object.entries(WIRE_SCRIPTS))("answers on the wire as recorded: %s", async (name, script) => {
  const recorder = new WireRecorder(service.origin);
  await script({ recorder, key: service.apiKey, adminKey: service.adminKey });
  await expect(recorder.text()).toMatchFileSnapshot(`recordings/${name}.txt`);
});
