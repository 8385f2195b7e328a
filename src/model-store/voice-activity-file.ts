import { VOICE_ACTIVITY } from "./manifest/transcription-models.ts";
import type { ModelStore } from "./model-store.ts";

/**
 * Returns the path of Silero's voice activity model from a stored transcription model, or else from the default one, which
 * is then downloaded. Throws a Fault.
 */
export async function voiceActivityFile(store: ModelStore, signal: AbortSignal): Promise<string> {
  const containing = store.manifest.filter(({ files }) => files.some(({ name }) => name === VOICE_ACTIVITY.name));
  const inOrder = containing.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault));
  const stored: string[] = [];
  for (const { id } of inOrder) if (await store.isPulled({ model: id })) stored.push(id);
  const [model = inOrder[0]?.id ?? ""] = stored;
  const { paths } = await store.pull({ model }, { signal });
  return paths[VOICE_ACTIVITY.name] ?? "";
}
