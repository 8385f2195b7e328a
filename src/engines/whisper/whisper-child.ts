/** What a model's process runs. */

import type { HostedModule } from "../host/model-child.ts";
import { type WhisperSettings, WhisperTranscription } from "./whisper-transcription.ts";

export const open: HostedModule["open"] = (settings) => WhisperTranscription.load(settings as WhisperSettings);
