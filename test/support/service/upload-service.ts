/** A service that transcribes uploads with a scripted model, and the bodies that its tests send. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "./eventually.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { makeWave } from "./wave.ts";

export const MAX_UPLOAD_BYTES = 200_000;
export const UPLOAD_CONFIG: string = `
builtin_models: false
server: { max_upload_bytes: ${MAX_UPLOAD_BYTES} }
models:
  - id: scripted
    task: transcription
    deployments:
      - engine: scripted
        slots: 2
        replies:
          - { match: slow, text: "One. Two. Three.", delay_ms_per_token: 20000 }
          - { match: late, text: "One.", delay_ms_before_first: 20000 }
          - { match: breaks, text: "One. Two.", fail_after_tokens: 1 }
          - { text: "One two. Three." }
`;
export const WAVE: Uint8Array = makeWave({ seconds: 2 });

/** Starts the service before the file's tests. Call it at the top of the file. */
export function useUploadService() {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startServiceProcess({ config: UPLOAD_CONFIG });
  });
  afterAll(() => service.stop());
  const send = (init: RequestInit) => service.fetch("/v1/audio/transcriptions", { method: "POST", ...init });
  const uploads = () => readdir(join(service.dataDirectory, "uploads"));
  return {
    running: () => service,
    post: (body: FormData, init: RequestInit = {}) => send({ body, ...init }),
    /** Sends a body made by hand, because no client would send it. */
    postRaw: (body: string, contentType = "multipart/form-data; boundary=B") =>
      send({ headers: { "content-type": contentType }, body }),
    /** Names of the temporary folders. */
    uploads,
    nothingStays: () => eventually(async () => expect(await uploads()).toEqual([])),
  };
}

export function form(fields: Record<string, string> = {}, content: Uint8Array = WAVE, name = "audio.wav"): FormData {
  const made = new FormData();
  for (const [field, value] of Object.entries({ model: "scripted", ...fields })) made.append(field, value);
  made.append("file", new Blob([new Uint8Array(content)]), name);
  return made;
}

export async function refusal(response: Response) {
  const { error } = (await response.json()) as {
    error: { message: string; param: string | null; code: string | null };
  };
  return { status: response.status, ...error };
}

export const part = (name: string, value: string, file = "") =>
  `--B\r\ncontent-disposition: form-data; name="${name}"${file === "" ? "" : `; filename="${file}"`}\r\n\r\n${value}\r\n`;
