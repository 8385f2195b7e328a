/**
 * Messages between a session and its sandboxed process, each in a frame: four bytes of length and JSON. An answer begins
 * with the token of its request, which only the reader of that request has: code that reaches the descriptor of answers
 * cannot write a valid one.
 */

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
  /** Files to write before the code runs, which it can only read; below /mnt/skills. */
  skills?: readonly SandboxFile[];
}

/** A request as the process gets it. */
export interface TokenRequest extends SandboxRequest {
  token: string;
}

export interface SandboxAnswer {
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
}
