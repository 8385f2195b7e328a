import type { Caller } from "../../contracts/caller.ts";
import type { Task } from "../../contracts/task.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { SessionSettings } from "../../wire/realtime/session-settings.ts";
import { throwRenamed } from "../../wire/rename-params.ts";
import type { RealtimeServices } from "./session-context.ts";

/** Throws a Fault, which names the field, for a model that the caller may not use or that performs another task. */
export function checkModels(caller: Caller, settings: SessionSettings, services: RealtimeServices): void {
  const { models } = services.inference;
  const check = (id: string | undefined, task: Task, param: string) => {
    try {
      models.findForTask(caller, id ?? models.first(caller, task), task);
    } catch (failure) {
      throwRenamed(failure, [[/^model$/, param]]);
    }
  };
  const { type, model, transcription, outputModality, speechModel } = settings;
  const transcriptionModel = transcription?.model ?? services.transcriptionModel;
  check(transcriptionModel, "transcription", "session.audio.input.transcription.model");
  if (type === "transcription") return;
  if (model === undefined) {
    throw invalidRequest("Name the chat model: wss://…/v1/realtime?model=MODEL.", "session.model", "model_required");
  }
  check(model, "chat", "session.model");
  if (outputModality === "audio") check(speechModel ?? services.speechModel, "speech", "session.audio.output.model");
}
