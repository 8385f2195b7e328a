/** The tool `code_interpreter` of responses. */

import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { DEFAULT_EXPIRY_MINUTES } from "../../wire/openai/containers.ts";
import { parse } from "../../wire/openai/validate.ts";
import {
  CODE_OUTPUTS,
  CODE_PARAMETERS,
  CodeInterpreterTool,
  type CodeOutput,
  findFileCitations,
  latestContainer,
  toCodeItem,
} from "../../wire/responses/code-interpreter.ts";
import type { ItemProgress } from "../../wire/responses/item-events.ts";
import { mediaTypeOf } from "../files/index.ts";
import { type CallOutcome, type RunContext, type ServiceCall, type ServiceToolType, withPath } from "../tools/index.ts";
import type { Container, ContainerFile, Containers } from "./containers.ts";
import { folderOfSkill } from "./mounted-skills.ts";
import type { OpenContainer } from "./open-container.ts";
import { SandboxKilledError } from "./sandbox/python-session.ts";

const NAME = "code_interpreter";
const MAX_IMAGE_BYTES = 1024 ** 2;
/** Names of files that the model reads at once. */
const MAX_NAMES = 20;
const DESCRIPTION =
  "Runs Python 3 in a sandbox and returns what it prints and the value of the last expression. Variables last between calls. The standard library is there, and no other package: no numpy, pandas or matplotlib. There is no network. Files are in /mnt/data; files written there are given to the user.";

export interface CodeInterpreterOptions {
  containers: Containers;
  openContainer: OpenContainer;
  /** Longest time of a call, its wait for a process included. */
  timeoutMs: number;
}

export function codeInterpreterTool({ containers, openContainer, timeoutMs }: CodeInterpreterOptions): ServiceToolType {
  return {
    type: NAME,
    includes: [CODE_OUTPUTS],
    serves: () => true,
    open: async (tool, { path, caller, items, include, isTransient, functionName, runTool }) => {
      const { container: requested } = withPath(path, () => parse(CodeInterpreterTool, tool));
      const projectId = caller.projectId ?? caller.organizationId;
      const earlier = latestContainer(items);
      const open = async (): Promise<Container> => {
        if (typeof requested === "string") return containers.find(projectId, requested);
        const reused = earlier === undefined ? undefined : containers.peek(projectId, earlier);
        if (reused !== undefined) return reused;
        const name = "auto";
        return openContainer(
          {
            ...{ projectId, name, minutes: DEFAULT_EXPIRY_MINUTES },
            ...{ fileIds: requested.file_ids ?? [], skills: requested.skills ?? [] },
          },
          runTool,
        );
      };
      const container = await open();
      const written: ContainerFile[] = [];
      const run = async (code: string, signal: AbortSignal) => {
        const result = await containers.run(container, code, signal);
        written.push(...result.files);
        return result;
      };
      const parts = { run, timeoutMs, containerId: container.id, showsOutputs: include.includes(CODE_OUTPUTS) };
      const present = [...container.files.keys()];
      const files = present.length === 0 ? "" : ` Files: ${listed(present)}.`;
      const definition = {
        ...{
          name: functionName(NAME),
          description: `${DESCRIPTION}${files}${describeSkills(container)}`,
          parameters: CODE_PARAMETERS,
          param: path,
        },
      };
      return {
        functions: [{ definition, name: NAME, begin: () => new CodeCall(parts) }],
        annotate: (text) => findFileCitations(text, written),
        close: async () => {
          if (isTransient === true && containers.peek(projectId, container.id) !== undefined)
            containers.delete(projectId, container.id);
        },
      };
    },
  };
}

interface CodeCallParts {
  run: (code: string, signal: AbortSignal) => ReturnType<Containers["run"]>;
  timeoutMs: number;
  containerId: string;
  showsOutputs: boolean;
}

class CodeCall implements ServiceCall {
  readonly #id = newId("ci_");
  readonly #parts: CodeCallParts;
  #code = "";
  #outputs: CodeOutput[] = [];
  #hasFailed = false;

  constructor(parts: CodeCallParts) {
    this.#parts = parts;
  }

  toItem(status: "in_progress" | "completed" | "incomplete") {
    const { containerId, showsOutputs } = this.#parts;
    const shown = status === "completed" && this.#hasFailed ? "failed" : status;
    const outputs = showsOutputs && status !== "in_progress" ? this.#outputs : null;
    return toCodeItem(this.#id, { status: shown, code: this.#code, containerId, outputs });
  }

  begin(): ItemProgress[] {
    return [{ type: "response.code_interpreter_call.in_progress" }];
  }

  append(): ItemProgress[] {
    return [];
  }

  async *run(
    { code }: Readonly<Record<string, unknown>>,
    { runTool, guardResult }: RunContext,
  ): AsyncGenerator<ItemProgress, CallOutcome> {
    if (typeof code !== "string" || code.trim() === "") return this.#fail("`code` must be a text.");
    this.#code = code;
    // The code is complete here: it is a string within JSON, of which pieces are no code.
    yield { type: "response.code_interpreter_call_code.delta", delta: code };
    yield { type: "response.code_interpreter_call_code.done", code };
    yield { type: "response.code_interpreter_call.interpreting" };
    const tool = { name: NAME, label: NAME, timeoutMs: this.#parts.timeoutMs };
    const { value, failure } = await runTool(tool, async (signal) => {
      const result = await this.#parts.run(code, signal);
      const [output = result.output] = (await guardResult?.([result.output])) ?? [];
      return { ...result, output };
    });
    if (value === undefined) {
      const isShown = failure instanceof Fault || failure instanceof SandboxKilledError;
      return this.#fail(isShown ? failure.message : "The sandbox failed.");
    }
    const { output, files } = value;
    this.#outputs = [{ type: "logs", logs: output }, ...files.flatMap(toImage)];
    yield { type: "response.code_interpreter_call.completed" };
    const names = files.map(({ path }) => path);
    const saved = names.length === 0 ? "" : `\nFiles written: ${listed(names)}. Name a file to give it to the user.`;
    return { type: "result", text: `${output === "" ? "The code printed nothing." : output}${saved}` };
  }

  refuse(): ItemProgress[] {
    this.#hasFailed = true;
    return [];
  }

  #fail(reason: string): CallOutcome {
    this.#hasFailed = true;
    this.#outputs = [{ type: "logs", logs: reason }];
    return { type: "result", text: `The code did not run to its end: ${reason}` };
  }
}

function listed(paths: readonly string[]): string {
  const rest = paths.length - MAX_NAMES;
  return `${paths.slice(0, MAX_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function describeSkills({ skills }: Container): string {
  if (skills.length === 0) return "";
  const lines = skills.map(({ name, description }) => `\n- ${folderOfSkill(name)}: ${description}`);
  return `\nSkills, each a folder that can only be read; read its SKILL.md before you do what it is for:${lines.join("")}`;
}

function toImage({ path, content }: ContainerFile): CodeOutput[] {
  const type = mediaTypeOf(content.subarray(0, 16), path);
  if (!/^image\/(png|jpeg|gif|webp)$/.test(type) || content.length > MAX_IMAGE_BYTES) return [];
  return [{ type: "image", url: `data:${type};base64,${content.toString("base64")}` }];
}
