/** Responses of /v1/organization/models/{id}: load, unload, pull and remove. */

interface ShownStatus {
  id: string;
  deployments: readonly {
    name: string;
    state: string;
    memoryBytes: number | undefined;
    loadSeconds: number | undefined;
  }[];
}

export function toModelStatus({ id, deployments }: ShownStatus) {
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
