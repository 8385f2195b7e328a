/** `parlance prompts`: lists stored prompts, prints and adds versions, and moves labels. */

import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { invalidRequest } from "../kernel/faults.ts";
import type { PromptUsage, StoredPrompt, StoredPromptVersion } from "../wire/openai/prompts/prompts.ts";
import type { AnswerOf } from "../wire/openapi/named.ts";
import { allEntries } from "./find-account.ts";
import { formatTable } from "./format-table.ts";
import { formatTime } from "./format-time.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

interface Options extends ServiceOptions {
  json?: true;
}

type Prompt = AnswerOf<typeof StoredPrompt>;

const PROMPTS = "/v1/prompts";
const OF_PROMPT = "ID or name of the prompt";

export function promptsCommand(): Command {
  const command = new Command("prompts");
  addOptions(command.command("list").description("List the stored prompts of the project")).action((options: Options) =>
    withService("project", options, async (client) => {
      const prompts = await allEntries<Prompt>(client, PROMPTS);
      const rows = prompts.map(({ id, name, latest_version: latest, labels, updated_at: time }) => {
        const shown = Object.entries(labels).map(([label, version]) => `${label}=${version}`);
        return [id, name, String(latest), shown.join(" "), formatTime(time)];
      });
      print(options, prompts, formatTable(["ID", "NAME", "VERSION", "LABELS", "UPDATED"], rows));
    }),
  );
  addOptions(
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
  addOptions(
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
        content: await readContent(file),
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
  addOptions(
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
  addOptions(
    command.command("usage").description("Print what each version cost").argument("<prompt>", OF_PROMPT),
  ).action((prompt: string, options: Options) =>
    withService("project", options, async (client) => {
      const { data } = await client.read<AnswerOf<typeof PromptUsage>>("GET", `${pathOf(prompt)}/usage`);
      const rows = data.map(({ version, requests, input_tokens: input, output_tokens: output, cost_usd: cost }) => [
        ...[version, requests, input, output].map(String),
        cost === null ? "unknown" : `$${cost.toFixed(6)}`,
      ]);
      print(options, data, formatTable(["VERSION", "REQUESTS", "INPUT", "OUTPUT", "COST"], rows));
    }),
  );
  return command;
}

function addOptions(command: Command): Command {
  return command
    .option("--json", "print the answer as JSON")
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "key of a project; default: $PARLANCE_KEY, otherwise a temporary one");
}

function pathOf(prompt: string): string {
  return `${PROMPTS}/${encodeURIComponent(prompt)}`;
}

async function readContent(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw invalidRequest(`${file} has no content of a prompt: ${reason}.`);
  }
}

function print({ json }: Options, value: unknown, text: string): void {
  console.log(json === true ? JSON.stringify(value, undefined, 2) : text);
}
