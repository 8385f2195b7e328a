/** Section `code_interpreter`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

export const codeInterpreterSettings = mapping(
  () => ({
    sandbox: z
      .enum(["bubblewrap", "process"])
      .default("bubblewrap")
      .describe(
        "Boundary of the code in addition to WebAssembly and the permissions of Node.js: the operating system's sandbox, without which the service does not start, or none (`process`).",
      ),
    max_sessions: z
      .int()
      .min(1)
      .max(256)
      .default(2)
      .describe("Python processes of this service at the same time; further calls wait."),
    queue_seconds: z.number().min(0).max(600).default(60).describe("Maximum time that a call waits for a process."),
    max_containers: z.int().min(1).max(10_000).default(20).describe("Containers of a project at the same time."),
    max_memory_megabytes: z.int().min(64).max(4096).default(512).describe("Memory of Python in each process."),
    timeout_seconds: z.number().min(1).max(600).default(60).describe("Maximum time of one call."),
    max_output_kilobytes: z.int().min(1).max(1024).default(64).describe("Output of a call that the model reads."),
    max_file_megabytes: z.int().min(1).max(256).default(16).describe("Size of all files of a container together."),
    max_total_file_megabytes: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1024)
      .describe("Size of the files of all containers of all projects together, which this process has in memory."),
    price_per_session: z
      .string()
      .regex(/^\d{1,9}(\.\d{1,15})?$/, { error: 'must be US dollars as a text, such as "0.03"' })
      .optional()
      .describe('US dollars of each container, as a text such as "0.03".'),
  }),
  "The tool `code_interpreter` of responses: Python in a sandboxed process. Without this section, it is refused.",
);

export type CodeInterpreterSettings = z.output<typeof codeInterpreterSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    codeInterpreter: z.output<typeof codeInterpreterSettings> | undefined;
  }
}
