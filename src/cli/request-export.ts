/** `parlance requests export`: recorded requests as JSON Lines. */

import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { findProject } from "./find-account.ts";
import { parseSeconds } from "./parse-seconds.ts";
import { addServiceOptions, withAdministration } from "./with-administration.ts";
import type { ServiceOptions } from "./with-service.ts";

interface Options extends ServiceOptions {
  format: "fine-tuning" | "evals";
  project?: string;
  model?: string;
  since?: number;
  minScore?: string;
  query?: string;
  output?: string;
}

/** Adds the command to `requests`. */
export function addRequestExport(command: Command): void {
  addServiceOptions(
    command
      .command("export")
      .description("Export prompts and answers that projects record, as JSON Lines")
      .addOption(
        new Option("--format <format>", "examples for fine-tuning, or items with their feedback for evaluations")
          .choices(["fine-tuning", "evals"])
          .default("fine-tuning"),
      )
      .option("--project <project>", "ID or name of a project")
      .option("--model <model>", "ID of a model")
      .option("--since <time>", "only requests of this time, such as 30m, 2h or 7d", parseSeconds)
      .option("--min-score <score>", "only requests whose feedback has at least this mean score, 0 to 1")
      .option("--query <words>", "only requests with these words")
      .option("--output <file>", "file to create; default: standard output"),
  ).action((_own: Options, subcommand: Command) => {
    // `requests` has some of the same options, and takes them wherever they stand.
    const options = subcommand.optsWithGlobals<Options>();
    return withAdministration(options, async (client) => {
      const { format, project, model, since, minScore, query, output } = options;
      const parameters = new URLSearchParams({
        format: format.replace("-", "_"),
        ...(project !== undefined && { project_ids: (await findProject(client, project)).id }),
        ...(model !== undefined && { models: model }),
        ...(since !== undefined && { start_time: String(Math.floor(Date.now() / 1000) - since) }),
        ...(minScore !== undefined && { min_score: minScore }),
        ...(query !== undefined && { query }),
      });
      const { body } = await client.send("GET", `/v1/organization/requests/export?${parameters}`);
      const lines = Readable.from(body ?? []);
      if (output === undefined) return pipeline(lines, process.stdout, { end: false });
      // Only for the user: the file has prompts and answers.
      await pipeline(lines, createWriteStream(output, { flags: "wx", mode: 0o600 }));
      console.log(`Exported to ${output}.`);
    });
  });
}
