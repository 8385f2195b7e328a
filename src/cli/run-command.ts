import { Command, CommanderError } from "commander";
import { Fault } from "../faults.ts";
import { STAGE, VERSION } from "../version.ts";

interface Entry {
  summary: string;
  load: () => Promise<Command>;
}

/** Each is imported only when it is called, so that `--help` answers at once. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: {
    summary: "Start the service",
    load: async () => {
      const { serve } = await import("./serve.ts");
      return new Command("serve").action(async () => {
        process.exitCode = await serve();
      });
    },
  },
  models: {
    summary: "List, fetch and remove the models on this machine",
    load: async () => {
      const [{ modelsCommand }, { openConfiguredStore }] = await Promise.all([
        import("./models.ts"),
        import("./configured-store.ts"),
      ]);
      return modelsCommand({ openStore: openConfiguredStore });
    },
  },
  keys: {
    summary: "Create, list and revoke API keys",
    load: async () => (await import("./keys.ts")).keysCommand(),
  },
  organizations: {
    summary: "Create, list and archive organizations",
    load: async () => (await import("./organizations.ts")).organizationsCommand(),
  },
  usage: {
    summary: "Show what a month was used for, and its cost",
    load: async () => (await import("./usage.ts")).usageCommand(),
  },
  config: {
    summary: "Check the configuration, or print its JSON Schema",
    load: async () => (await import("./config.ts")).configCommand(),
  },
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

const FAULT = 1;
const WRONG_USAGE = 2;

/** Resolves with the exit code: 0, 1 for a fault, 2 for wrong usage. Messages go to standard error. */
export async function runCommand(words: readonly string[]): Promise<number> {
  try {
    const program = await buildProgram(words);
    await program.parseAsync(words, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (failure) {
    if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : WRONG_USAGE;
    if (failure instanceof Fault) console.error(`error: ${failure.message}`);
    else console.error("error: This is a bug in Parlance.", failure);
    return FAULT;
  }
}

export async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command("parlance")
    .description("A self-hosted inference service that OpenAI's clients can talk to.")
    .version(`parlance ${VERSION} (${STAGE})`, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print this help")
    .helpCommand("help [command]", "Print the help of a command")
    .showHelpAfterError("Run parlance --help to see what there is.")
    .addHelpText("after", "\nEnvironment variables and parlance.yaml are described in docs/reference/configuration.md.")
    .exitOverride();
  const called = words.slice(0, 2);
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = called.includes(name) ? await load() : new Command(name);
    program.addCommand(inherit(command.summary(summary).description(summary), program));
  }
  return program;
}

/** A command that was made on its own does not know how its parent ends and reports. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const each of command.commands) inherit(each, command);
  return command;
}
