/** Limits the total memory of local models, or what they take of the GPUs' memory: unloads the least recently used ones when another is needed. */

import { unavailable } from "../../kernel/faults.ts";

export interface MemoryUser {
  readonly name: string;
  /** Measured memory of a model that has been loaded, otherwise an estimate. */
  readonly memoryBytes: number;
  /** Time of the last use, on the clock of `performance.now()`. */
  readonly lastUsedAt: number;
  /** Whether no request uses or awaits it. */
  readonly isIdle: boolean;
  unload(): Promise<void>;
}

const MEGABYTE = 1e6;

/** What a budget limits, in words for its messages. */
export interface BudgetKind {
  memory: string;
  setting: string;
}

const MAIN_MEMORY: BudgetKind = { memory: "memory", setting: "local.memory" };
export const GPU_MEMORY: BudgetKind = { memory: "GPU memory", setting: "local.gpu_memory" };

export class MemoryBudget {
  limitBytes: number;
  readonly #kind: BudgetKind;
  readonly #users = new Set<MemoryUser>();
  #admitting: Promise<void> = Promise.resolve();

  constructor(limitBytes: number, kind = MAIN_MEMORY) {
    this.limitBytes = limitBytes;
    this.#kind = kind;
  }

  get usedBytes(): number {
    return [...this.#users].reduce((sum, user) => sum + user.memoryBytes, 0);
  }

  /**
   * Resolves once there is room for `user`, which counts from then on. Throws a Fault when it can never fit, or when
   * the models to unload are in use.
   */
  admit(user: MemoryUser): Promise<void> {
    // Sequential, because concurrent checks could count the same free memory twice.
    const admitted = this.#admitting.then(() => this.#makeRoom(user));
    this.#admitting = admitted.catch(() => {});
    return admitted;
  }

  release(user: MemoryUser): void {
    this.#users.delete(user);
  }

  /** Unloads idle models if a loaded one is larger than estimated, or the limit was lowered. */
  trim(except?: MemoryUser): Promise<void> {
    this.#admitting = this.#admitting.then(async () => {
      for (;;) {
        const victim = this.usedBytes > this.limitBytes ? this.#leastRecentlyUsed(except) : undefined;
        if (victim === undefined) return;
        await victim.unload();
        this.#users.delete(victim);
      }
    });
    return this.#admitting;
  }

  async #makeRoom(user: MemoryUser): Promise<void> {
    const needed = user.memoryBytes;
    const { memory, setting } = this.#kind;
    if (needed > this.limitBytes) {
      const message = `This model needs about ${inMegabytes(needed)} of ${memory}, but local models may use ${inMegabytes(this.limitBytes)} together. Raise ${setting} or use a smaller model.`;
      throw unavailable(message, "insufficient_memory", 600);
    }
    while (this.#usedByOthers(user) + needed > this.limitBytes) {
      const victim = this.#leastRecentlyUsed(user);
      if (victim === undefined) {
        const message = `This model needs about ${inMegabytes(needed)} of ${memory}, and the loaded models, which are all in use, have ${inMegabytes(this.#usedByOthers(user))} of ${inMegabytes(this.limitBytes)}. Try again when they are idle, or raise ${setting}.`;
        throw unavailable(message, "insufficient_memory", 10);
      }
      await victim.unload();
      this.#users.delete(victim);
    }
    this.#users.add(user);
  }

  #usedByOthers(user: MemoryUser): number {
    return this.usedBytes - (this.#users.has(user) ? user.memoryBytes : 0);
  }

  #leastRecentlyUsed(except: MemoryUser | undefined): MemoryUser | undefined {
    const idle = [...this.#users].filter((each) => each !== except && each.isIdle);
    return idle.sort((a, b) => a.lastUsedAt - b.lastUsedAt)[0];
  }
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / MEGABYTE)} MB`;
}
