/** The voices in a process of their own. */

import type { HostedModule } from "../host/model-child.ts";
import { KokoroSpeech, type KokoroSpeechOptions } from "./kokoro-speech.ts";

export const open: HostedModule["open"] = (settings) => KokoroSpeech.open(settings as KokoroSpeechOptions);
