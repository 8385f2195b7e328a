/** `parlance prompts`: lists stored prompts, prints and adds versions, and moves labels. */

import { Command } from "commander";
import type { PromptUsage, StoredPrompt, StoredPromptVersion } from "../wire/openai/prompts/prompts.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import { allEntries } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { addProjectOptions, type ProjectOptions as Options, print, readJsonFile } from "./project-options.ts";
import { withService } from "./with-service.ts";

type Prompt = AnswerOf<typeof StoredPrompt>;

const PROMPTS = "/v1/prompts";
const OF_PROMPT = "ID or name of the prompt";

export function promptsCommand(): Command {
  const command = new Command("prompts");
  addProjectOptions(command.command("list").description("List the stored prompts of the project")).action(
    (options: Options) =>
      withService("project", options, async (client) => {
        const prompts = await allEntries<Prompt>(client, PROMPTS);
        const rows = prompts.map(({ id, name, latest_version: latest, labels, updated_at: time }) => {
          const shown = Object.entries(labels).map(([label, version]) => `${label}=${version}`);
          return [id, name, String(latest), shown.join(" "), formatTime(time)];
        });
        print(options, prompts, formatTable(["ID", "NAME", "VERSION", "LABELS", "UPDATED"], rows));
      }),
  );
  addProjectOptions(
    command
      .command("show")
      .description("Print a version as JSON")
      .argument("<prompt>", OF_PROMPT)
      .argument("[version]", "number or label; default: what requests use", ""),
  ).action((prompt: string, version: string, options: Options) =>
    withService("project", options, async (client) => {
      const { labels, latest_version: latest } = await client.read<Prompt>("GET", pathOf(prompt));
      const number = version === "" ? String(labels.production ?? latest) : version;
      const path = `${pathOf(prompt)}/versions/${encodeURIComponent(number)}`;
      const shown = await client.read<AnswerOf<typeof StoredPromptVersion>>("GET", path);
      console.log(JSON.stringify(options.json === true ? shown : shown.content, undefined, 2));
    }),
  );
  addProjectOptions(
    command
      .command("push")
      .description("Add a version from a file with its content; creates the prompt if the project has none of the name")
      .argument("<prompt>", OF_PROMPT)
      .argument("<file>", "JSON with messages, variables, model and settings")
      .option("--label <label>", "label that moves to the version")
      .option("--note <text>", "why the version was made"),
  ).action((prompt: string, file: string, options: Options & { label?: string; note?: string }) =>
    withService("project", options, async (client) => {
      const { label, note } = options;
      const version = {
        content: await readJsonFile(file, "content of a prompt"),
        ...(note !== undefined && { note }),
        ...(label !== undefined && { labels: [label] }),
      };
      const prompts = await allEntries<Prompt>(client, PROMPTS);
      const existing = prompts.find(({ id, name }) => id === prompt || name === prompt);
      const answer =
        existing === undefined
          ? await client.read<Prompt>("POST", PROMPTS, { name: prompt, ...version })
          : await client.read<object>("POST", `${pathOf(existing.id)}/versions`, version);
      print(options, answer, `Added version ${(existing?.latest_version ?? 0) + 1} of ${prompt}.`);
    }),
  );
  addProjectOptions(
    command
      .command("label")
      .description("Move a label to a version; to an earlier one to roll back")
      .argument("<prompt>", OF_PROMPT)
      .argument("<label>", "label, such as production")
      .argument("<version>", "number of the version"),
  ).action((prompt: string, label: string, version: string, options: Options) =>
    withService("project", options, async (client) => {
      const path = `${pathOf(prompt)}/labels/${encodeURIComponent(label)}`;
      const answer = await client.read<Prompt>("POST", path, { version: Number(version) });
      print(options, answer, `${label} of ${answer.name} is version ${answer.labels[label]}.`);
    }),
  );
  addProjectOptions(
    command
      .command("usage")
      .description("Print what each version cost and how it was rated")
      .argument("<prompt>", OF_PROMPT),
  ).action((prompt: string, options: Options) =>
    withService("project", options, async (client) => {
      const { data } = await client.read<AnswerOf<typeof PromptUsage>>("GET", `${pathOf(prompt)}/usage`);
      const rows = data.map((each) => [
        ...[each.version, each.requests, each.input_tokens, each.output_tokens].map(String),
        each.cost_usd === null ? "unknown" : `$${each.cost_usd.toFixed(6)}`,
        each.mean_score === null ? "-" : `${each.mean_score.toFixed(2)} (${each.ratings})`,
      ]);
      print(options, data, formatTable(["VERSION", "REQUESTS", "INPUT", "OUTPUT", "COST", "RATING"], rows));
    }),
  );
  return command;
}

function pathOf(prompt: string): string {
  return `${PROMPTS}/${encodeURIComponent(prompt)}`;
}
