import type { Feature, ServiceParts } from "../feature.ts";
import { codeInterpreterTool } from "./code-interpreter-tool.ts";
import { Containers } from "./containers.ts";
import { containerOpener } from "./open-container.ts";
import { containerRoutes } from "./routes.ts";

/** The tool `code_interpreter` and its containers, if they are configured. */
export function codeInterpreterFeature({ config, lifetime, inference, files, tools }: ServiceParts): Feature {
  const settings = config.codeInterpreter;
  if (settings === undefined) return {};
  const containers = new Containers(settings);
  lifetime.use(containers);
  const openContainer = containerOpener(containers, files.files, settings);
  const timeoutMs = (settings.queueSeconds + settings.timeoutSeconds + 30) * 1000;
  tools.register(codeInterpreterTool({ containers, openContainer, timeoutMs }));
  const { maxFileMegabytes } = settings;
  const uploads = { directory: files.directory, maxBytes: maxFileMegabytes * 1024 ** 2 };
  const parts = { containers, openContainer, files: files.files, uploads, maxFileMegabytes };
  return { project: [containerRoutes(inference, parts)] };
}
