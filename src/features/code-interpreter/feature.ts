import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { findOsSandbox, type OsSandbox } from "../../kernel/process/os-sandbox.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { FileStorage } from "../files/index.ts";
import type { Skills } from "../skills/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import { codeInterpreterTool } from "./code-interpreter-tool.ts";
import { Containers } from "./containers.ts";
import { containerOpener } from "./open-container.ts";
import { containerRoutes } from "./routes.ts";
import type { CodeInterpreterSettings } from "./settings.ts";

interface CodeInterpreterParts {
  config: Settings;
  lifetime: AsyncDisposableStack;
  inference: Inference;
  files: FileStorage;
  skills: Skills;
  tools: ServiceTools;
}

/**
 * The tool `code_interpreter` and its containers, if they are configured. Throws a Fault where the operating system has
 * no sandbox and the configuration demands it.
 */
export async function codeInterpreterFeature(parts: CodeInterpreterParts): Promise<Feature> {
  const { config, lifetime, inference, files, skills, tools } = parts;
  const settings = config.codeInterpreter;
  if (settings === undefined) return {};
  const containers = new Containers(settings, await requireSandbox(settings));
  lifetime.use(containers);
  const openContainer = containerOpener(containers, { files: files.files, skills }, settings);
  const timeoutMs = (settings.queueSeconds + settings.timeoutSeconds + 30) * 1000;
  tools.register(codeInterpreterTool({ containers, openContainer, timeoutMs }));
  const { maxFileMegabytes } = settings;
  const uploads = { directory: files.directory, maxBytes: maxFileMegabytes * 1024 ** 2 };
  const routeParts = { containers, openContainer, files: files.files, uploads, maxFileMegabytes };
  return { project: [containerRoutes(inference, routeParts)] };
}

async function requireSandbox({ sandbox }: CodeInterpreterSettings): Promise<OsSandbox | undefined> {
  if (sandbox === "process") return undefined;
  const search = await findOsSandbox();
  if ("sandbox" in search) return search.sandbox;
  const message = `The code interpreter has no sandbox of the operating system: ${search.problem}. Install bubblewrap and allow user namespaces, or set code_interpreter.sandbox to process to run code with the permissions of Node.js as its only boundary; see docs/how-to/run-code.md.`;
  throw invalidRequest(message);
}
