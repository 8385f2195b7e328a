/** Creates containers with files of the project, each at the price of a session. */

import { buffer } from "node:stream/consumers";
import type { ToolResult, ToolRunOptions } from "../../inference/tool-run.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { FileStore } from "../files/file-store.ts";
import type { Container, Containers } from "./containers.ts";
import type { CodeInterpreterSettings } from "./settings.ts";

interface ContainerOrder {
  projectId: string;
  name: string;
  /** Time without a call until it expires. */
  minutes: number;
  fileIds: readonly string[];
}

type RunTool = <Result>(
  tool: ToolRunOptions,
  work: (signal: AbortSignal) => Promise<Result>,
) => Promise<ToolResult<Result>>;

export type OpenContainer = (order: ContainerOrder, runTool: RunTool) => Promise<Container>;

const TIMEOUT_MS = 60_000;

/** The result throws a Fault when a limit refuses the price, or a file is not there. */
export function containerOpener(
  containers: Containers,
  files: Pick<FileStore, "find" | "read">,
  { pricePerSession, maxFileMegabytes }: CodeInterpreterSettings,
): OpenContainer {
  return async ({ projectId, name, minutes, fileIds }, runTool) => {
    const fill = async () => {
      const container = containers.create(projectId, name, minutes);
      try {
        for (const id of fileIds) await addStoredFile(containers, files, container, { id, maxFileMegabytes });
        return container;
      } catch (failure) {
        containers.delete(projectId, container.id);
        throw failure;
      }
    };
    const label = "code_interpreter";
    const tool = { name: "code_interpreter/session", label, pricePerCall: pricePerSession, timeoutMs: TIMEOUT_MS };
    const { value, failure } = await runTool(tool, fill);
    if (value === undefined) throw failure;
    return value;
  };
}

/** Copies a file of the project into a container. Throws a Fault. */
export async function addStoredFile(
  containers: Containers,
  files: Pick<FileStore, "find" | "read">,
  container: Container,
  { id, maxFileMegabytes }: { id: string; maxFileMegabytes: number },
) {
  const resource = { projectId: container.projectId, id };
  const { filename, bytes } = await files.find(resource);
  if (bytes > maxFileMegabytes * 1024 ** 2) {
    throw invalidRequest(`The file ${id} is larger than ${maxFileMegabytes} MB, the limit of a container.`, "file_ids");
  }
  return containers.addFile(container, filename, await buffer(await files.read(resource)));
}
