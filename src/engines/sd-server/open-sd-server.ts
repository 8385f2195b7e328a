import { access } from "node:fs/promises";
import { invalidRequest } from "../../kernel/faults.ts";
import type { InProcessModule } from "../define-engine.ts";
import { hostServer } from "../host/host-server.ts";
import { siblingModule } from "../host/sibling-module.ts";
import { findSdServer } from "./find-sd-server.ts";
import type { SdServerStart } from "./sd-server-child.ts";
import { SdServerImages } from "./sd-server-images.ts";
import type { SdServerSettings } from "./settings.ts";

export const open: InProcessModule<SdServerSettings>["open"] = async (settings, _task, services) => {
  const binary = await findSdServer(settings.binary);
  await requireFile(settings.file, "file");
  for (const [name, path] of Object.entries(settings.parts)) await requireFile(path, `parts.${name}`);
  const { startTimeoutSeconds } = settings;
  const start: SdServerStart = { binary, options: toOptions(settings), startTimeoutSeconds };
  const server = await hostServer({
    name: services.name,
    module: siblingModule(import.meta.url, "./sd-server-child"),
    settings: start,
    logger: services.logger,
    signal: services.signal,
  });
  return new SdServerImages({ server, settings, services });
};

async function requireFile(path: string, setting: string): Promise<void> {
  await access(path).catch(() => {
    throw invalidRequest(`\`${setting}\` is ${path}, which cannot be read.`, setting);
  });
}

function toOptions({ file, parts, threads, options }: SdServerSettings): string[] {
  const others = Object.entries(parts).flatMap(([name, path]) => (path === undefined ? [] : [`--${name}`, path]));
  return [
    ...[others.length === 0 ? "--model" : "--diffusion-model", file],
    ...others,
    ...(threads === undefined ? [] : ["--threads", String(threads)]),
    ...options,
  ];
}
