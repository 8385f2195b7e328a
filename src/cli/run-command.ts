import { Command, CommanderError } from "commander";
import { Fault } from "../kernel/faults.ts";
import { STAGE, VERSION } from "../kernel/version.ts";
import { printable } from "./printable.ts";

interface Entry {
  summary: string;
  load: () => Promise<Command>;
}

/** Imports each command only when it is called, for a fast `--help`. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: {
    summary: "Start the service",
    load: async () => {
      const { serve } = await import("./serve.ts");
      return new Command("serve")
        .option("--port <port>", "Port to listen on, as PARLANCE_PORT")
        .option("--config <file>", "Configuration file, as PARLANCE_CONFIG")
        .action(async ({ port, config }: { port?: string; config?: string }) => {
          const { wantsSetup } = await import("./setup/offer.ts");
          if (await wantsSetup()) return (await import("./setup/setup.ts")).setup({});
          process.exitCode = await serve({
            ...process.env,
            ...(port === undefined ? {} : { PARLANCE_PORT: port }),
            ...(config === undefined ? {} : { PARLANCE_CONFIG: config }),
          });
        });
    },
  },
  setup: {
    summary: "Set up a service in a minute: models, a person, a first answer",
    load: async () => (await import("./setup/setup.ts")).setupCommand(),
  },
  autostart: {
    summary: "Start the service at each login",
    load: async () => (await import("./autostart.ts")).autostartCommand(),
  },
  upgrade: {
    summary: "Replace the installed version; go back when the new one does not become ready",
    load: async () => (await import("./upgrade.ts")).upgradeCommand(),
  },
  chat: {
    summary: "Talk to a chat model in the terminal",
    load: async () => (await import("./chat.ts")).chatCommand(),
  },
  launch: {
    summary: "Start Claude Code, Codex, opencode or Open WebUI with the running service",
    load: async () => (await import("./launch.ts")).launchCommand(),
  },
  console: {
    summary: "Print a link that signs in to the console of the running service",
    load: async () => (await import("./console.ts")).consoleCommand(),
  },
  doctor: {
    summary: "Check this machine, the configuration and what they depend on",
    load: async () => (await import("./doctor.ts")).doctorCommand(),
  },
  discover: {
    summary: "Find inference servers on this machine",
    load: async () => (await import("./discover.ts")).discoverCommand(),
  },
  models: {
    summary: "List, download, load and remove models; recommend some for this machine",
    load: async () => (await import("./models.ts")).modelsCommand(),
  },
  keys: {
    summary: "Create, list and revoke API keys",
    load: async () => (await import("./keys.ts")).keysCommand(),
  },
  projects: {
    summary: "List, create, rename, limit and archive projects",
    load: async () => (await import("./projects.ts")).projectsCommand(),
  },
  budgets: {
    summary: "Bound spending by user, key, project, end user and tag",
    load: async () => (await import("./budgets.ts")).budgetsCommand(),
  },
  "service-accounts": {
    summary: "List, create and delete service accounts",
    load: async () => (await import("./service-accounts.ts")).serviceAccountsCommand(),
  },
  users: {
    summary: "List users; change their roles, disable and remove them",
    load: async () => (await import("./people.ts")).usersCommand(),
  },
  invites: {
    summary: "List, create and withdraw invites",
    load: async () => (await import("./people.ts")).invitesCommand(),
  },
  roles: {
    summary: "List, create and delete roles",
    load: async () => (await import("./people.ts")).rolesCommand(),
  },
  organizations: {
    summary: "Create, list and archive organizations",
    load: async () => (await import("./organizations.ts")).organizationsCommand(),
  },
  prompts: {
    summary: "List stored prompts; add versions, move labels",
    load: async () => (await import("./prompts.ts")).promptsCommand(),
  },
  evals: {
    summary: "Create evals; run them over models and versions of prompts, and compare",
    load: async () => (await import("./evals.ts")).evalsCommand(),
  },
  batches: {
    summary: "Run files of requests; list and cancel batches",
    load: async () => (await import("./batches.ts")).batchesCommand(),
  },
  webhooks: {
    summary: "List webhooks and their deliveries; test an endpoint, send an event again",
    load: async () => (await import("./webhooks.ts")).webhooksCommand(),
  },
  requests: {
    summary: "List or follow requests with their timing, tokens and cost",
    load: async () => (await import("./requests.ts")).requestsCommand(),
  },
  status: {
    summary: "Show what the running service does and what its models take",
    load: async () => (await import("./status.ts")).statusCommand(),
  },
  usage: {
    summary: "Show a month's usage and cost by project and model",
    load: async () => (await import("./usage.ts")).usageCommand(),
  },
  api: {
    summary: "Call any operation of the administration API",
    load: async () => (await import("./api.ts")).apiCommand(),
  },
  licenses: {
    summary: "List the licenses of installed packages and models",
    load: async () => {
      const [{ licensesCommand }, { openConfiguredStore }] = await Promise.all([
        import("./licenses.ts"),
        import("./configured-store.ts"),
      ]);
      return licensesCommand({ openStore: openConfiguredStore });
    },
  },
  migrate: {
    summary: "Migrate the database to this version",
    load: async () => (await import("./migrate.ts")).migrateCommand(),
  },
  backup: {
    summary: "Back up the SQLite database while the service runs",
    load: async () => (await import("./backup.ts")).backupCommand(),
  },
  restore: {
    summary: "Restore the SQLite database from a backup",
    load: async () => (await import("./backup.ts")).restoreCommand(),
  },
  import: {
    summary: "Write a configuration from LiteLLM's, llama-swap's or Ollama's; take over LiteLLM's keys",
    load: async () => (await import("./import.ts")).importCommand(),
  },
  config: {
    summary: "Validate, export or import the configuration; print its JSON Schema",
    load: async () => (await import("./config.ts")).configCommand(),
  },
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

const FAILURE = 1;
const WRONG_USAGE = 2;

/** Resolves with the exit code: 0 for success, 1 for a failure, 2 for wrong usage. Messages go to standard error. */
export async function runCommand(words: readonly string[]): Promise<number> {
  try {
    const program = await buildProgram(words);
    await program.parseAsync(words, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (failure) {
    if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : WRONG_USAGE;
    if (failure instanceof Fault) console.error(`error: ${printable(failure.message)}`);
    else console.error("error: This is a bug in Parlance.", failure);
    return FAILURE;
  }
}

export async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command("parlance")
    .description("Self-hosted, OpenAI-compatible inference service.")
    .version(`parlance ${VERSION} (${STAGE})`, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print this help")
    .helpCommand("help [command]", "Print the help of a command")
    .showHelpAfterError("Run parlance --help for a list of commands.")
    .addHelpText("after", "\nSee docs/reference/configuration.md for environment variables and parlance.yaml.")
    .exitOverride();
  const called = words.slice(0, 2);
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = called.includes(name) ? await load() : new Command(name);
    program.addCommand(inheritSettings(command.summary(summary).description(summary), program, `parlance ${name}`));
  }
  return program;
}

/** Copies the parent's settings, such as exitOverride, to a command that was created separately. */
function inheritSettings(command: Command, parent: Command, path: string): Command {
  command.copyInheritedSettings(parent);
  const contents = command.commands.length > 0 ? "a list of its commands" : "its options";
  command.showHelpAfterError(`Run ${path} --help for ${contents}.`);
  for (const each of command.commands) inheritSettings(each, command, `${path} ${each.name()}`);
  return command;
}
