/** Creates containers with files and skills of the project, each at the price of a session. */

import { buffer } from "node:stream/consumers";
import type { ToolResult, ToolRunOptions } from "../../inference/tool-run.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { ContainerSkill } from "../../wire/openai/skills.ts";
import type { FileStore } from "../files/index.ts";
import { ContainerSkillReader, type Skills } from "../skills/index.ts";
import type { Container, Containers } from "./containers.ts";
import type { CodeInterpreterSettings } from "./settings.ts";

interface ContainerOrder {
  projectId: string;
  name: string;
  /** Time without a call until it expires. */
  minutes: number;
  fileIds: readonly string[];
  skills: readonly ContainerSkill[];
}

type RunTool = <Result>(
  tool: ToolRunOptions,
  work: (signal: AbortSignal) => Promise<Result>,
) => Promise<ToolResult<Result>>;

export type OpenContainer = (order: ContainerOrder, runTool: RunTool) => Promise<Container>;

const TIMEOUT_MS = 60_000;

/** The result throws a Fault when a limit refuses the price, or a file or skill is not there. */
export function containerOpener(
  containers: Containers,
  { files, skills }: { files: Pick<FileStore, "find" | "read">; skills: Skills },
  { pricePerSession, maxFileMegabytes }: CodeInterpreterSettings,
): OpenContainer {
  return async ({ projectId, name, minutes, fileIds, skills: requested }, runTool) => {
    // A container that is refused costs nothing.
    containers.requireRoom(projectId);
    for (const id of fileIds) await findStoredFile(files, projectId, { id, maxFileMegabytes });
    const reader = await ContainerSkillReader.find(
      skills,
      { projectId, maxBytes: maxFileMegabytes * 1024 ** 2 },
      requested,
    );
    const fill = async (signal: AbortSignal) => {
      const container = containers.create(projectId, name, minutes);
      try {
        for (const id of fileIds) await addStoredFile(containers, files, container, { id, maxFileMegabytes });
        for await (const skill of reader.read(signal)) containers.mount(container, skill);
        // Whoever left, or waited too long, does not know of it.
        signal.throwIfAborted();
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

interface StoredFileOptions {
  id: string;
  maxFileMegabytes: number;
}

/** Copies a file of the project into a container. Throws a Fault. */
export async function addStoredFile(
  containers: Containers,
  files: Pick<FileStore, "find" | "read">,
  container: Container,
  options: StoredFileOptions,
) {
  const { projectId } = container;
  const { filename } = await findStoredFile(files, projectId, options);
  return containers.addStored(container, filename, async () => buffer(await files.read({ projectId, id: options.id })));
}

/** Throws a Fault for a file that is not there, or is too large for a container. */
async function findStoredFile(
  files: Pick<FileStore, "find">,
  projectId: string,
  { id, maxFileMegabytes }: StoredFileOptions,
) {
  const file = await files.find({ projectId, id });
  if (file.bytes <= maxFileMegabytes * 1024 ** 2) return file;
  throw invalidRequest(`The file ${id} is larger than ${maxFileMegabytes} MB, the limit of a container.`, "file_ids");
}
