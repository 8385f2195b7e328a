import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { FileStorage } from "../files/file-storage.ts";
import type { ServiceTools } from "../tools/service-tools.ts";
import { codeInterpreterTool } from "./code-interpreter-tool.ts";
import { Containers } from "./containers.ts";
import { containerOpener } from "./open-container.ts";
import { containerRoutes } from "./routes.ts";

interface CodeInterpreterParts {
  config: Settings;
  lifetime: AsyncDisposableStack;
  inference: Inference;
  files: FileStorage;
  tools: ServiceTools;
}

/** The tool `code_interpreter` and its containers, if they are configured. */
export function codeInterpreterFeature({ config, lifetime, inference, files, tools }: CodeInterpreterParts): Feature {
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
