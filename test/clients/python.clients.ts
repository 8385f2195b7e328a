import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import type { Service } from "../support/service/service.ts";
import { type ClientCheck, updateClientsTable } from "./clients-table.ts";
import { installPythonClients, PYTHON_SCRIPTS, runPythonClient } from "./python-clients.ts";
import type { RecordedRequest } from "./recorded-request.ts";
import { writeRecording } from "./recordings.ts";
import { UPDATES } from "./report-checks.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";
import { startClientsService } from "./start-clients-service.ts";

/** Clients whose dependencies conflict with those of the others. */
const REQUIREMENTS: Readonly<Record<string, string>> = {
  "ag2_client.py": "requirements-ag2.txt",
  "agno_client.py": "requirements-frameworks.txt",
  "aider_client.py": "requirements-aider.txt",
  "anthropic_client.py": "requirements-anthropic.txt",
  "chainlit_client.py": "requirements-chainlit.txt",
  "crewai_client.py": "requirements-crewai.txt",
  "docling_client.py": "requirements-docling.txt",
  "dspy_client.py": "requirements-semantic-kernel.txt",
  "google_adk_client.py": "requirements-google-adk.txt",
  "goose_client.py": "requirements-goose.txt",
  "gptme_client.py": "requirements-gptme.txt",
  "gradio_chat_client.py": "requirements-gradio.txt",
  "haystack_client.py": "requirements-frameworks.txt",
  "inspect_ai_client.py": "requirements-inspect-ai.txt",
  "instructor_client.py": "requirements-openai-2.txt",
  "langchain_ollama_client.py": "requirements-ollama.txt",
  "langfuse_client.py": "requirements-frameworks.txt",
  "letta_client.py": "requirements-letta.txt",
  "litellm_client.py": "requirements-openai-2.txt",
  "livekit_client.py": "requirements-livekit.txt",
  "llama_index_client.py": "requirements-openai-2.txt",
  "markitdown_client.py": "requirements-frameworks.txt",
  "mem0_client.py": "requirements-mem0.txt",
  "mistral_vibe_client.py": "requirements-mistral-vibe.txt",
  "ollama_client.py": "requirements-ollama.txt",
  "open_webui_client.py": "requirements-open-webui.txt",
  "openhands_client.py": "requirements-openhands.txt",
  "openinference_client.py": "requirements-frameworks.txt",
  "outlines_client.py": "requirements-frameworks.txt",
  "pipecat_client.py": "requirements-pipecat.txt",
  "semantic_kernel_client.py": "requirements-semantic-kernel.txt",
  "smolagents_client.py": "requirements-frameworks.txt",
  "strands_client.py": "requirements-frameworks.txt",
  "txtai_client.py": "requirements-txtai.txt",
  "unstructured_client.py": "requirements-unstructured.txt",
  "weave_client.py": "requirements-weave.txt",
  "wyoming_client.py": "requirements-wyoming.txt",
};
/** Clients that need Python 3.12 or newer, whose path is in `NEWER_PYTHON`. */
const NEEDS_NEWER_PYTHON = new Set(["mistral_vibe_client.py", "openhands_client.py", "wyoming_client.py"]);
const { NEWER_PYTHON } = process.env;
/** Sends requests that have to fail, which no client does. */
const WITHOUT_RECORDING = "llm-comply";
const SCRIPTS = readdirSync(PYTHON_SCRIPTS).filter((name) => name.endsWith("_client.py"));

let service: Service;
let recorder: RequestRecorder;
const checks: ClientCheck[] = [];
const recorded = new Map<string, RecordedRequest[]>();

beforeAll(async () => {
  service = await startClientsService();
  recorder = await startRecorder(service.origin);
});
afterAll(async () => {
  await recorder?.close();
  await service?.stop();
  if (UPDATES) await updateClientsTable(checks);
});

describe("Python clients", () => {
  test.for(SCRIPTS)("%s", async (script, { skip }) => {
    const python = NEEDS_NEWER_PYTHON.has(script) ? NEWER_PYTHON : undefined;
    if (NEEDS_NEWER_PYTHON.has(script) && python === undefined) return skip("NEWER_PYTHON is not set");
    const interpreter = await installPythonClients(REQUIREMENTS[script] ?? "requirements.txt", python);
    const { apiKey } = service;
    const found = await runPythonClient(
      interpreter,
      script,
      { baseUrl: `${recorder.origin}/v1`, apiKey },
      DEFAULT_CHAT_MODEL,
    );
    checks.push(...found);
    const [{ client, version } = { client: "", version: "" }] = found;
    // Some clients have two scripts.
    const requests = [...(recorded.get(client) ?? []), ...recorder.take()];
    recorded.set(client, requests);
    if (UPDATES && client !== "" && client !== WITHOUT_RECORDING) await writeRecording({ client, version, requests });
    expect(found.filter(({ error }) => error !== null)).toEqual([]);
  });
});
