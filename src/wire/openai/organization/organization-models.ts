/** Responses of /v1/organization/models: the library, load, unload, pull and remove. */

import type { Task } from "../../../contracts/task.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { queryBoolean } from "./organization-list.ts";

export const PullQuery = lazy.strictObject(() => ({ background: queryBoolean().optional() }));

import type { ModelPull, ModelStatus } from "../../openapi/model-library-answers.ts";
import type { AnswerOf } from "../../openapi/named.ts";

interface ShownStatus {
  id: string;
  deployments: readonly {
    name: string;
    state: string;
    memoryBytes: number | undefined;
    loadSeconds: number | undefined;
  }[];
}

export function toModelStatus({ id, deployments }: ShownStatus): AnswerOf<typeof ModelStatus> {
  return {
    object: "organization.model",
    id,
    deployments: deployments.map(({ name, state, memoryBytes, loadSeconds }) => ({
      name,
      state,
      memory_bytes: memoryBytes ?? null,
      load_seconds: loadSeconds === undefined ? null : Math.round(loadSeconds * 1000) / 1000,
    })),
  };
}

interface ShownProgress {
  model: string;
  file: string;
  phase: string;
  source: string | undefined;
  receivedBytes: number;
  totalBytes: number | undefined;
  completedBytes: number;
  modelBytes: number | undefined;
}

/** Renders a server-sent event. */
export function toPullFrame(shown: ShownProgress): string {
  const { model, file, phase, source, receivedBytes, totalBytes, completedBytes, modelBytes } = shown;
  const progress = {
    object: "organization.model.pull",
    id: model,
    file,
    phase,
    source: source ?? null,
    received_bytes: receivedBytes,
    total_bytes: totalBytes ?? null,
    completed_bytes: completedBytes,
    model_bytes: modelBytes ?? null,
  };
  return `data: ${JSON.stringify(progress)}\n\n`;
}

export function toModelDeleted(id: string) {
  return { object: "organization.model.deleted", id, deleted: true };
}

interface ShownPull {
  state: AnswerOf<typeof ModelPull>["state"];
  progress: ShownProgress | undefined;
  message: string | undefined;
}

export function toPull(id: string, { state, progress, message }: ShownPull) {
  return {
    object: "organization.model.pull" as const,
    id,
    state,
    file: progress?.file ?? null,
    received_bytes:
      progress === undefined ? 0 : progress.completedBytes + (progress.phase === "stored" ? 0 : progress.receivedBytes),
    total_bytes: progress?.modelBytes ?? progress?.totalBytes ?? null,
    error_message: state === "failed" ? (message ?? null) : null,
  };
}

interface ShownLibrary {
  machine: { cores: number; modelMemoryBytes: number; freeBytes: number };
  models: readonly {
    id: string;
    task: Task;
    description: string;
    license: string;
    languages?: string | undefined;
    bytes: number | undefined;
    memoryBytes: number | undefined;
    tokensPerSecond: number | undefined;
    isMeasured: boolean;
    fits: boolean;
    isPulled: boolean;
    pull: ShownPull | undefined;
  }[];
}

export function toModelLibrary({ machine, models }: ShownLibrary) {
  return {
    object: "list" as const,
    machine: {
      cores: machine.cores,
      model_memory_bytes: machine.modelMemoryBytes,
      free_bytes: machine.freeBytes,
    },
    data: models.map((model) => ({
      object: "organization.library_model" as const,
      id: model.id,
      task: model.task,
      description: model.description,
      license: model.license,
      languages: model.languages ?? null,
      download_bytes: model.bytes ?? null,
      memory_bytes: model.memoryBytes === undefined ? null : Math.round(model.memoryBytes),
      tokens_per_second: model.tokensPerSecond === undefined ? null : Math.round(10 * model.tokensPerSecond) / 10,
      is_measured: model.isMeasured,
      fits: model.fits,
      is_pulled: model.isPulled,
      pull: model.pull === undefined ? null : toPull(model.id, model.pull),
    })),
  };
}
