/** Text to speech in a process of its own. */

import type { HostedModule } from "../host/model-child.ts";
import { SherpaSpeech, type SherpaSpeechSettings } from "./sherpa-speech.ts";

export const open: HostedModule["open"] = (settings) => SherpaSpeech.load(settings as SherpaSpeechSettings);
