/** Keeps what a process wrote last: the reason of a crash comes first, and a long trace follows. */

/** Lines that the log gets of each end. */
const KEPT_LINES = 20;
const MAX_LINES = 500;
/** Lines within this time before the last one belong to the crash. */
const CRASH_MS = 2000;
const REASON =
  /\b(?:CUDA|Vulkan|Metal|HIP) error\b|ggml_vulkan: .*(?:fail|error)|GGML_ASSERT|terminate called|what\(\):|\bfatal\b|out of memory|unsupported toolchain|no kernel image/i;
const MAX_REASON_LENGTH = 300;

export class CrashOutput {
  readonly #lines: { line: string; atMs: number }[] = [];

  push(line: string, atMs = performance.now()): void {
    this.#lines.push({ line, atMs });
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }

  /** The first and the last lines of the crash. */
  get excerpt(): string[] {
    const lines = this.#lines.map(({ line }) => line);
    const burst = this.#burst;
    if (burst.length <= 2 * KEPT_LINES) return burst.length > KEPT_LINES ? burst : lines.slice(-KEPT_LINES);
    const omitted = burst.length - 2 * KEPT_LINES;
    return [...burst.slice(0, KEPT_LINES), `… ${omitted} lines …`, ...burst.slice(-KEPT_LINES)];
  }

  /** The line that says why, where one does. */
  get reason(): string | undefined {
    return (
      this.#burst
        .find((line) => REASON.test(line))
        ?.trim()
        // Without the folders of the machine that built the library.
        .replace(/^\/\S*\//, "")
        .slice(0, MAX_REASON_LENGTH)
    );
  }

  get #burst(): string[] {
    const last = this.#lines.at(-1)?.atMs ?? 0;
    return this.#lines.filter(({ atMs }) => last - atMs <= CRASH_MS).map(({ line }) => line);
  }
}
