/** Containers of this process: their files, which last until they expire, and the Python sessions that run in them. */

import { KeyedLimits } from "../../kernel/async/keyed-limits.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault, invalidRequest, unavailable } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { OsSandbox } from "../../kernel/process/os-sandbox.ts";
import type { ShownContainer, ShownContainerFile } from "../../wire/openai/containers.ts";
import type { MountedSkill } from "../skills/index.ts";
import { toSandboxFiles } from "./mounted-skills.ts";
import { ProcessQueue } from "./process-queue.ts";
import { isInFolder, nodeCommand, PythonSession } from "./sandbox/python-session.ts";
import type { CodeInterpreterSettings } from "./settings.ts";

export interface ContainerFile extends ShownContainerFile {
  content: Buffer;
}

export interface Container extends ShownContainer {
  projectId: string;
  files: Map<string, ContainerFile>;
  skills: MountedSkill[];
}

export interface CodeResult {
  output: string;
  /** False after an exception. */
  isDone: boolean;
  files: readonly ContainerFile[];
}

interface LiveContainer extends Container {
  session: PythonSession | undefined;
  /** Paths that the session has in this state. */
  synced: Map<string, string>;
  /** Ends of the runs so far: one after the other. */
  last: Promise<unknown>;
  skillBytes: number;
  /** Whether the session has the skills. */
  hasSkills: boolean;
  isRunning: boolean;
}

const FOLDER = "/mnt/data/";
const MAX_SKILL_FILES = 1_000;
const MEGABYTE = 1024 ** 2;
const MAX_FILES = 200;
const SWEEP_MS = 15_000;

export class Containers implements Disposable {
  readonly #settings: CodeInterpreterSettings;
  readonly #sandbox: OsSandbox | undefined;
  readonly #containers = new Map<string, LiveContainer>();
  readonly #processes: ProcessQueue;
  readonly #reads = new KeyedLimits(1);
  readonly #sweep: NodeJS.Timeout;
  /** Bytes of the files of all containers. */
  #bytes = 0;

  constructor(settings: CodeInterpreterSettings, sandbox: OsSandbox | undefined) {
    this.#settings = settings;
    this.#sandbox = sandbox;
    this.#processes = new ProcessQueue(settings.maxSessions);
    this.#sweep = setInterval(() => this.#removeExpired(), SWEEP_MS).unref();
  }

  /** Throws a Fault beyond the limit of the project. */
  create(projectId: string, name: string, expiresAfterMinutes: number): Container {
    this.requireRoom(projectId);
    const now = Date.now();
    const times = { createdAt: now, lastActiveAt: now, expiresAfterMinutes };
    const state = { session: undefined, synced: new Map(), last: Promise.resolve(), isRunning: false };
    const mounted = { skills: [], skillBytes: 0, hasSkills: false };
    const identity = { id: newId("cntr_"), projectId, name, files: new Map() };
    const container: LiveContainer = { ...identity, ...times, ...state, ...mounted };
    this.#containers.set(container.id, container);
    return container;
  }

  /** Throws a Fault when the project has as many containers as it may. */
  requireRoom(projectId: string): void {
    const { maxContainers } = this.#settings;
    if (this.list(projectId).length < maxContainers) return;
    const message = `The project has ${maxContainers} containers, the limit. Delete one, or wait until one expires.`;
    throw new Fault("request-rate-limited", message, { code: "rate_limit_exceeded", retryAfterSeconds: 60 });
  }

  /** Containers of a project, the oldest first. */
  list(projectId: string): Container[] {
    this.#removeExpired();
    return [...this.#containers.values()].filter((each) => each.projectId === projectId);
  }

  /** Returns undefined for a container that is not there, has expired, or is another project's. */
  peek(projectId: string, id: string): Container | undefined {
    this.#removeExpired();
    const container = this.#containers.get(id);
    return container?.projectId === projectId ? container : undefined;
  }

  /** Throws a Fault where `peek` returns undefined. */
  find(projectId: string, id: string): Container {
    const container = this.peek(projectId, id);
    if (container !== undefined) return container;
    const message = `There is no container \`${id.slice(0, 100)}\`. It has expired, was deleted, or belongs to another replica or project.`;
    throw new Fault("not-found", message, { param: "container" });
  }

  delete(projectId: string, id: string): void {
    this.#remove(this.find(projectId, id) as LiveContainer);
  }

  /** Adds a skill, whose files code can read. Throws a Fault for a size or a number of files that is not allowed. */
  mount({ id, projectId }: Container, skill: MountedSkill): void {
    const container = this.find(projectId, id) as LiveContainer;
    const bytes = skill.files.reduce((sum, { content }) => sum + content.length, 0);
    const count = [...container.skills, skill].reduce((sum, { files }) => sum + files.length, 0);
    const { maxFileMegabytes } = this.#settings;
    if (bytesOf(container) + bytes > maxFileMegabytes * MEGABYTE || count > MAX_SKILL_FILES) {
      const limit = `${maxFileMegabytes} MB of files, and ${MAX_SKILL_FILES} files of skills`;
      throw invalidRequest(`The container may have ${limit}. Use smaller skills, or fewer.`, "skills", "invalid_value");
    }
    this.#requireTotal(bytes);
    container.skills.push(skill);
    container.skillBytes += bytes;
    this.#bytes += bytes;
  }

  /**
   * Adds or replaces a file of the user that is stored elsewhere. One of a project is read at a time: a request of some
   * bytes can name the largest file, and hundreds of them would have it in memory as often.
   */
  addStored(container: Container, name: string, read: () => Promise<Buffer>): Promise<ContainerFile> {
    return this.#reads.run(container.projectId, async () => this.addFile(container, name, await read()));
  }

  /** Adds or replaces a file of the user. Throws a Fault for a name or a size that is not allowed. */
  addFile({ id, projectId }: Container, name: string, content: Buffer, source: ContainerFile["source"] = "user") {
    const container = this.find(projectId, id) as LiveContainer;
    const path = name.startsWith(FOLDER) ? name : `${FOLDER}${name}`;
    if (!isInFolder(path)) throw invalidRequest("The file needs a name without `..`.", "file", "invalid_value");
    const before = container.files.get(path);
    const bytes = bytesOf(container) - (before?.content.length ?? 0) + content.length;
    const { maxFileMegabytes } = this.#settings;
    if (bytes > maxFileMegabytes * MEGABYTE || (before === undefined && container.files.size >= MAX_FILES)) {
      const limit = `${maxFileMegabytes} MB and ${MAX_FILES} files`;
      throw invalidRequest(`The container may have ${limit}. Delete one first.`, "file", "invalid_value");
    }
    this.#requireTotal(content.length - (before?.content.length ?? 0));
    const file = { id: before?.id ?? newId("cfile_"), containerId: id, path, content, source, createdAt: Date.now() };
    this.#removeFile(container, path);
    container.files.set(path, file);
    this.#bytes += content.length;
    container.lastActiveAt = Date.now();
    return file;
  }

  findFile(projectId: string, id: string, fileId: string): ContainerFile {
    const file = [...this.find(projectId, id).files.values()].find((each) => each.id === fileId);
    if (file !== undefined) return file;
    throw new Fault("not-found", `The container has no file \`${fileId.slice(0, 100)}\`.`, { param: "file" });
  }

  deleteFile(projectId: string, id: string, fileId: string): void {
    const { path } = this.findFile(projectId, id, fileId);
    this.#removeFile(this.find(projectId, id) as LiveContainer, path);
  }

  /** Runs code after the earlier runs of the container. Throws a Fault when no process is free in time, and what the session throws. */
  run({ id, projectId }: Container, code: string, signal: AbortSignal): Promise<CodeResult> {
    const container = this.find(projectId, id) as LiveContainer;
    const running = container.last.then(() => this.#run(container, code, signal));
    container.last = running.catch(() => {});
    return running;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep);
    for (const container of [...this.#containers.values()]) this.#remove(container);
  }

  async #run(container: LiveContainer, code: string, signal: AbortSignal): Promise<CodeResult> {
    signal.throwIfAborted();
    container.isRunning = true;
    let session: PythonSession | undefined;
    try {
      session = await this.#sessionOf(container, signal);
      this.#processes.take(container.projectId);
      const changed = [...container.files.values()].filter(
        ({ id, path, createdAt }) => container.synced.get(path) !== `${id} ${createdAt}`,
      );
      const removed = [...container.synced.keys()].filter((path) => !container.files.has(path));
      const files = changed.map(({ path, content }) => ({ path, base64: content.toString("base64") }));
      const skills = container.hasSkills ? [] : container.skills.flatMap(toSandboxFiles);
      const result = await session.run({ code, files, removed, skills }, signal);
      container.hasSkills = true;
      for (const path of result.removed) this.#removeFile(container, path);
      const written: ContainerFile[] = [];
      const refused: Fault[] = [];
      let { output } = result;
      for (const { path, base64 } of result.files) {
        try {
          written.push(this.addFile(container, path, Buffer.from(base64, "base64"), "assistant"));
        } catch (failure) {
          if (!(failure instanceof Fault)) throw failure;
          refused.push(failure);
        }
      }
      if (refused.length > 0) output += `\n[${refused.length} files were not saved: ${refused[0]?.message}]`;
      container.synced = new Map(
        [...container.files.values()].map((file) => [file.path, `${file.id} ${file.createdAt}`]),
      );
      if (result.outputBytes > Buffer.byteLength(result.output))
        output += `\n[The output was cut; it has ${result.outputBytes} bytes.]`;
      if (result.leftOut > 0) output += `\n[${result.leftOut} files were too large or too many to be saved.]`;
      return { output, isDone: result.isDone, files: written };
    } finally {
      container.isRunning = false;
      container.lastActiveAt = Date.now();
      if (session !== undefined) this.#processes.release(container.projectId);
    }
  }

  async #sessionOf(container: LiveContainer, signal: AbortSignal): Promise<PythonSession> {
    const node = await nodeCommand(this.#sandbox);
    if (container.session?.hasEnded === false) return container.session;
    container.session = undefined;
    const deadline = Date.now() + this.#settings.queueSeconds * 1000;
    while (this.#sessions().length >= this.#settings.maxSessions) {
      const idle = this.#sessions().filter(({ isRunning }) => !isRunning);
      // Its files last; its variables do not.
      const oldest = idle.sort((one, other) => one.lastActiveAt - other.lastActiveAt)[0];
      if (oldest !== undefined) this.#endSession(oldest);
      else await this.#processes.wait(container.projectId, deadline, signal);
    }
    // Nobody would end the process of one that was deleted while this waited: the place is for the next one.
    if (!this.#containers.has(container.id)) this.#processes.wakeNext();
    this.find(container.projectId, container.id);
    const { maxMemoryMegabytes, timeoutSeconds, maxOutputKilobytes, maxFileMegabytes } = this.#settings;
    const maxOutputBytes = maxOutputKilobytes * 1024;
    const sizes = { maxOutputBytes, maxFileBytes: maxFileMegabytes * MEGABYTE, maxFiles: MAX_FILES };
    container.session = new PythonSession({ maxMemoryMegabytes, timeoutSeconds, ...sizes }, this.#sandbox, node);
    container.synced = new Map();
    container.hasSkills = false;
    return container.session;
  }

  #sessions(): LiveContainer[] {
    return [...this.#containers.values()].filter(({ session }) => session?.hasEnded === false);
  }

  #endSession(container: LiveContainer): void {
    container.session?.close();
    container.session = undefined;
  }

  /** Throws a Fault when the files of all containers would exceed their limit. */
  #requireTotal(addedBytes: number): void {
    const { maxTotalFileMegabytes } = this.#settings;
    if (addedBytes <= 0 || this.#bytes + addedBytes <= maxTotalFileMegabytes * MEGABYTE) return;
    const message = `The files of all containers have ${maxTotalFileMegabytes} MB, the limit of this service (code_interpreter.max_total_file_megabytes). Delete containers, or wait until some expire.`;
    throw unavailable(message, "server_is_overloaded", 60);
  }

  #removeFile(container: LiveContainer, path: string): void {
    const file = container.files.get(path);
    if (file === undefined) return;
    container.files.delete(path);
    this.#bytes -= file.content.length;
  }

  #remove(container: LiveContainer): void {
    this.#endSession(container);
    this.#containers.delete(container.id);
    this.#bytes -= container.skillBytes;
    for (const path of [...container.files.keys()]) this.#removeFile(container, path);
  }

  #removeExpired(): void {
    const now = Date.now();
    for (const container of [...this.#containers.values()]) {
      const expiresAt = container.lastActiveAt + container.expiresAfterMinutes * MINUTE_MS;
      if (!container.isRunning && expiresAt <= now) this.#remove(container);
    }
  }
}

/** Bytes of all files of a container. */
function bytesOf({ files, skillBytes }: LiveContainer): number {
  return [...files.values()].reduce((sum, { content }) => sum + content.length, skillBytes);
}
