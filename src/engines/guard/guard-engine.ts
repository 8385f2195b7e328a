import { invalidRequest, unsupportedValue } from "../../faults.ts";
import type { Engine } from "../engine.ts";
import { ENGINES, type EngineKind, openModel } from "../registry.ts";
import { GUARD_FORMATS } from "./formats.ts";
import { GuardModel } from "./guard-model.ts";
import type { GuardSettings } from "./settings.ts";

/** Language models made for judging text, run by any chat engine. */
export const guardEngine: Engine<GuardSettings> = {
  async open({ chat, family, ...settings }, task, services) {
    if (task !== "moderation") {
      throw unsupportedValue(`The engine guard does not do ${task}; only moderation.`, "task");
    }
    const { engine, ...given } = JSON.parse(chat.reveal()) as { engine: string };
    const registered = ENGINES[engine as EngineKind];
    if (registered === undefined || engine === "guard") {
      throw invalidRequest(`\`chat.engine\` is ${JSON.stringify(engine)}, which is no chat engine.`, "chat.engine");
    }
    const checked = registered.settings.safeParse(given);
    if (!checked.success) {
      const [issue] = checked.error.issues;
      const path = ["chat", ...(issue?.path ?? [])].join(".");
      throw invalidRequest(`\`${path}\` ${issue?.message ?? "is not valid"}.`, path);
    }
    const model = await openModel(engine, checked.data, "chat", services);
    if (model.task !== "chat") throw new Error(`The engine ${engine} opened no chat model`);
    return new GuardModel(model, GUARD_FORMATS[family], { ...settings, name: services.catalogId });
  },
};
