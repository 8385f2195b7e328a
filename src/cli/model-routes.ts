/** Commands on models through the administration API. */

import { Fault } from "../kernel/faults.ts";
import type { PullProgress } from "../model-store/pull-progress.ts";
import { openConfiguredStore } from "./configured-store.ts";
import { formatBytes } from "./format-bytes.ts";
import { formatTable } from "./format-table.ts";
import { createProgress } from "./progress.ts";
import { readEvents } from "./read-events.ts";
import type { ServiceClient } from "./service-client.ts";
import { withModels } from "./with-models.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

interface Options extends ServiceOptions {
  json?: true;
}

interface Status {
  id: string;
  deployments: { name: string; state: string; memory_bytes: number | null; load_seconds: number | null }[];
}

interface PullEvent {
  error?: { message: string };
  id: string;
  file: string;
  phase: PullProgress["phase"];
  source: NonNullable<PullProgress["source"]> | null;
  received_bytes: number;
  total_bytes: number | null;
  completed_bytes: number;
  model_bytes: number | null;
}

interface ListedModel {
  id: string;
  metadata: { task: string; loaded?: boolean; memory_bytes?: number | null; load_seconds?: number | null };
}

const INTERRUPTED_EXIT_CODE = 130;

const pathOf = (model: string) => `/v1/organization/models/${encodeURIComponent(model)}`;

export const SERVICE_COMMANDS = [
  {
    name: "load",
    description: "Load a model in the running service, so that its first request does not wait",
    action: load,
  },
  {
    name: "unload",
    description: "Unload a model and free its memory; its next request loads it again",
    action: unload,
  },
  {
    name: "ps",
    description: "List the models that the running service has loaded, with their memory",
    action: listLoaded,
  },
] as const;

async function load(model: string, options: Options): Promise<void> {
  await withService("admin", options, async (client) => {
    const status = await change(client, "POST", `${pathOf(model)}/load`);
    print(options.json, status, () =>
      status.deployments
        .map(({ name, memory_bytes: memory, load_seconds: seconds }) => {
          const size = memory === null ? "" : `, ${formatBytes(memory)} of memory`;
          return `Loaded ${name}${seconds === null ? "" : ` in ${seconds.toFixed(1)} s`}${size}.`;
        })
        .join("\n"),
    );
  });
}

async function unload(model: string, options: Options): Promise<void> {
  await withService("admin", options, async (client) => {
    const status = await change(client, "POST", `${pathOf(model)}/unload`);
    print(options.json, status, () => `Unloaded ${status.deployments.map(({ name }) => name).join(", ")}.`);
  });
}

async function listLoaded(options: Options): Promise<void> {
  await withService("project", options, async (client) => {
    const response = await client.send("GET", "/v1/models?include_metadata=true");
    const { data } = (await response.json()) as { data: ListedModel[] };
    const loaded = data.filter(({ metadata }) => metadata.loaded === true && typeof metadata.memory_bytes === "number");
    print(
      options.json,
      loaded.map(({ id, metadata }) => ({
        id,
        task: metadata.task,
        memory_bytes: metadata.memory_bytes,
        load_seconds: metadata.load_seconds ?? null,
      })),
      () =>
        loaded.length === 0
          ? "No local model is loaded. A model is loaded by its first request or by `parlance models load`."
          : formatTable(
              ["ID", "TASK", "MEMORY", "LOADED IN"],
              loaded.map(({ id, metadata: { task, memory_bytes: memory, load_seconds: seconds } }) => [
                id,
                task,
                formatBytes(memory ?? 0),
                typeof seconds === "number" ? `${seconds.toFixed(1)} s` : "",
              ]),
            ),
    );
  });
}

export async function removeModel(model: string, options: ServiceOptions): Promise<void> {
  await withModels(options, async (client) => {
    await client.send("DELETE", pathOf(model));
  });
  console.log(`Removed ${model}.`);
}

/** Ctrl-C ends the download, which the next pull resumes where its source allows that. */
export async function pullModel(model: string, options: ServiceOptions): Promise<void> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  const progress = await createProgress(process.stderr);
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    await withModels(options, async (client) => {
      const response = await client.send("POST", `${pathOf(model)}/pull`, undefined, interruption.signal);
      for await (const event of readEvents(response)) progress.update(toProgress(event as PullEvent));
    });
    progress.stop();
    const path = options.url === undefined ? await pathOnThisMachine(model) : undefined;
    console.log(path ?? `${model} is ready.`);
  } catch (failure) {
    if (!interruption.signal.aborted) throw failure;
    progress.stop();
    console.error("Interrupted. Pull the model again to resume a download from the Hugging Face Hub.");
    process.exitCode = INTERRUPTED_EXIT_CODE;
  } finally {
    progress.stop();
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

async function pathOnThisMachine(model: string): Promise<string | undefined> {
  const models = await (await openConfiguredStore("read")).list();
  return models.find(({ id }) => id === model)?.path;
}

function toProgress(event: PullEvent): PullProgress {
  if (event.error !== undefined) throw new Fault("upstream-failed", event.error.message);
  return {
    model: event.id,
    file: event.file,
    phase: event.phase,
    source: event.source ?? undefined,
    receivedBytes: event.received_bytes,
    totalBytes: event.total_bytes ?? undefined,
    completedBytes: event.completed_bytes,
    modelBytes: event.model_bytes ?? undefined,
  };
}

async function change(client: ServiceClient, method: string, path: string): Promise<Status> {
  return (await client.send(method, path)).json() as Promise<Status>;
}

function print(json: true | undefined, value: unknown, describe: () => string): void {
  console.log(json === true ? JSON.stringify(value, undefined, 2) : describe());
}
