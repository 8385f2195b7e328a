import type { EngineServices } from "../../contracts/engine.ts";

/** Manifest ID of the model that tells voices apart. */
const SPEAKER_MODEL = "campplus";

/** Path of the speaker model if it is in the store. */
export async function findSpeakerModel(services: EngineServices): Promise<string | undefined> {
  return (await services.findPulled(SPEAKER_MODEL))?.path;
}
