/** The voices in a process of their own. */

import type { HostedModule } from "../host/model-child.ts";
import { FliteSpeech } from "./flite-speech.ts";
import type { FliteSettings } from "./settings.ts";

export const open: HostedModule["open"] = (settings) => FliteSpeech.open(settings as FliteSettings);
