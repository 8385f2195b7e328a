/** Messages between a session and its sandboxed process, as lines of JSON. */

export interface SandboxFile {
  /** Absolute path below /mnt/data. */
  path: string;
  base64: string;
}

export interface SandboxRequest {
  code: string;
  /** Files to write before the code runs. */
  files: readonly SandboxFile[];
  /** Paths to delete before the code runs. */
  removed: readonly string[];
}

export type SandboxAnswer =
  | { type: "ready" }
  | {
      type: "done";
      /** False after an exception, which the output shows. */
      isDone: boolean;
      output: string;
      /** Length of the entire output, of which `output` may be the beginning. */
      outputBytes: number;
      /** Files that the code has written. */
      files: readonly SandboxFile[];
      removed: readonly string[];
      /** Files that do not leave the sandbox: they are too large or too many. */
      leftOut: number;
    };
