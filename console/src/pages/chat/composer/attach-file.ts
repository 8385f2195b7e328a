/** Files in a question: images and documents as parts of the message, texts as text, recordings as their transcript. */

import type { Answers } from "../../../api/answers.ts";
import { request } from "../../../api/request.ts";
import { toDataUrl } from "../../../components/data-url.ts";
import { formatBytes } from "../../../components/format.ts";
import { t } from "../../../i18n/translate.ts";
import type { AttachedFile } from "../conversation.ts";

type Attachment =
  | { kind: "image"; url: string }
  | { kind: "file"; file: AttachedFile }
  | { kind: "transcript"; text: string };

export interface AttachOptions {
  /** Model that transcribes recordings; undefined: the project has none. */
  transcriptionModel: string | undefined;
}

const MAX_TEXT_BYTES = 512 * 1024;
const MAX_BYTES = 20 * 1024 * 1024;
const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|javascript|typescript|x-sh|x-python|toml|sql)$/;
const TEXT_NAME =
  /\.(txt|md|csv|tsv|jsonl?|ya?ml|toml|ini|xml|html?|css|[cm]?[jt]sx?|py|rb|rs|go|java|kt|[ch](pp)?|cs|php|sql|sh|log|diff|patch|tex|swift)$/i;

/**
 * Reads a file as what the API takes. Throws an Error that names a file that it cannot take, and on abort, which also
 * stops a transcription.
 */
export async function attachFile(
  file: File,
  { transcriptionModel }: AttachOptions,
  signal: AbortSignal,
): Promise<Attachment> {
  const { name, type, size } = file;
  const isText = TEXT_TYPE.test(type) || TEXT_NAME.test(name);
  const limit = isText ? MAX_TEXT_BYTES : MAX_BYTES;
  if (size > limit)
    throw new Error(
      t("{{name}} has {{size}}. The limit for this kind is {{limit}}.", {
        name,
        size: formatBytes(size),
        limit: formatBytes(limit),
      }),
    );
  if (isText) return { kind: "file", file: { name, text: await file.text() } };
  if (type.startsWith("image/")) return { kind: "image", url: await toDataUrl(file) };
  if (/^(audio|video)\//.test(type)) {
    if (transcriptionModel === undefined)
      throw new Error(t("{{name}} is a recording, and no model transcribes here.", { name }));
    return { kind: "transcript", text: await transcribe(file, transcriptionModel, signal) };
  }
  return { kind: "file", file: { name, url: await toDataUrl(file) } };
}

export async function transcribe(file: File, model: string, signal: AbortSignal): Promise<string> {
  const body = new FormData();
  body.append("model", model);
  body.append("file", file);
  return (await request<Answers["Transcript"]>("v1/audio/transcriptions", { method: "POST", body, signal })).text;
}
