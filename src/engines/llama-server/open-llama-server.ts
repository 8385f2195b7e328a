import type { InProcessModule } from "../define-engine.ts";
import { hostServer } from "../host/host-server.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { findLlamaServer } from "./find-llama-server.ts";
import { LlamaServerChat } from "./llama-server-chat.ts";
import type { LlamaServerStart } from "./llama-server-child.ts";
import type { LlamaServerSettings } from "./settings.ts";

export const open: InProcessModule<LlamaServerSettings>["open"] = async (settings, _task, services) => {
  const binary = await findLlamaServer(settings.binary);
  const files = await services.pull(settings.reference, services.signal);
  const { projectorHf } = settings;
  const projector =
    projectorHf === undefined
      ? settings.projectorFile
      : (await services.pull({ hf: projectorHf }, services.signal)).path;
  const start: LlamaServerStart = {
    binary,
    options: toOptions(settings, files.path, projector),
    startTimeoutSeconds: settings.startTimeoutSeconds,
  };
  const server = await hostServer({
    name: services.name,
    module: siblingModule(import.meta.url, "./llama-server-child"),
    settings: start,
    logger: services.logger,
    signal: services.signal,
  });
  return new LlamaServerChat({ server, settings, services });
};

function toOptions(settings: LlamaServerSettings, path: string, projector: string | undefined): string[] {
  const { contextSize, slots, threads, gpuLayers } = settings;
  return [
    ...["--model", path],
    // llama-server divides its context among the slots.
    ...["--ctx-size", String(contextSize * slots)],
    ...["--parallel", String(slots)],
    // A context shift would silently drop the beginning.
    "--no-context-shift",
    "--jinja",
    ...(threads === undefined ? [] : ["--threads", String(threads)]),
    ...(gpuLayers === undefined ? [] : ["--n-gpu-layers", String(gpuLayers)]),
    ...(projector === undefined ? [] : ["--mmproj", projector]),
    ...settings.options,
  ];
}
