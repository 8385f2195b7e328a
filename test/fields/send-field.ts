/** Sends one field of a request to the service, and says what became of it. */

import { expect } from "vitest";
import type { Decision } from "../../scripts/fields/decisions.ts";
import type { FieldGroup } from "../../scripts/fields/groups.ts";
import type { InProcessService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";
import type { RecordingUpstream } from "./recording-upstream.ts";
import { PNG } from "./values.ts";

export interface Sender {
  service: InProcessService;
  upstream: RecordingUpstream;
}

/** `model`: undefined for an operation without one. */
export async function sendField(
  { service, upstream }: Sender,
  group: FieldGroup,
  field: { name: string; value: unknown },
  model: string | undefined,
): Promise<{ decision: Decision; detail: string }> {
  const { name, value } = field;
  const isModel = group.at === "" && name === "model";
  const fields = isModel ? {} : { [name]: value };
  const body = { ...(model !== undefined && { model }), ...group.body(fields) };
  const named = group.operation.replace("{model}", model ?? "");
  const path = named.replace("{id}", group.needs === undefined ? "" : await resourceOf(service, group.needs));
  const response = await fetch(`${service.origin}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.apiKey}`, ...(group.form === undefined && JSON_TYPE) },
    body: group.form === undefined ? JSON.stringify(body) : formOf(body, group.form),
  });
  const text = await response.text();
  const shown = group.at === "" ? name : `${group.at}.${name}`;
  if (response.status === 400) {
    // Cohere's errors have nothing around them.
    const { error = JSON.parse(text) } = JSON.parse(text) as { error?: { message: string; param?: string } };
    expect(`${error.param} ${error.message}`, shown).toContain(
      name.replace(/^known_speaker_references$/, "known_speaker"),
    );
    return { decision: "refused", detail: error.message };
  }
  // A resource that does not exist was looked up.
  if (response.status === 404 && text.includes(`"param":"${name}`)) return { decision: "honored", detail: text };
  expect(response.ok, `${shown}: ${response.status} ${text.slice(0, 300)}`).toBe(true);
  const ignored = (response.headers.get("x-parlance-ignored-fields") ?? "").split(", ");
  if (ignored.includes(shown)) return { decision: "listed", detail: "" };
  const sent = model?.startsWith("far-") === true ? JSON.stringify(upstream.last() ?? null) : "null";
  const isForwarded =
    group.form === undefined
      ? sent.includes(JSON.stringify(value)) && sent.includes(`"${name}":`)
      : sent.includes(`name=\\"${name}`);
  return { decision: isForwarded ? "forwarded" : "honored", detail: sent };
}

const JSON_TYPE = { "content-type": "application/json" };

async function resourceOf(service: InProcessService, { path, body }: { path: string; body: object }): Promise<string> {
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const answer = await service.inject({ method: "POST", url: path, payload: body, headers });
  return (answer.json() as { id: string }).id;
}

function formOf(body: Readonly<Record<string, unknown>>, kind: "audio" | "image" | "text"): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      const key = Array.isArray(value) ? `${name}[]` : name;
      if (name === "file") continue;
      if (each instanceof Blob) form.append(key, each, "part.png");
      else if (typeof each === "object" && each !== null) {
        for (const [member, inner] of Object.entries(each)) form.append(`${key}[${member}]`, String(inner));
      } else form.append(key, String(each));
    }
  }
  if (kind === "audio") form.append("file", new Blob([makeWave({ seconds: 1 })]), "speech.wav");
  if (kind === "image" && !form.has("image")) form.append("image", new Blob([PNG], { type: "image/png" }), "a.png");
  if (kind === "text") form.append("file", new Blob(["text"]), "a.txt");
  return form;
}
