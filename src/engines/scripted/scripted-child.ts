/** The scripted model in a process of its own. */

import type { HostedModule } from "../host/model-child.ts";
import { ScriptedChat } from "./scripted-chat.ts";
import type { ScriptedSettings } from "./settings.ts";

export const open: HostedModule["open"] = async (settings) => new ScriptedChat(settings as ScriptedSettings);
