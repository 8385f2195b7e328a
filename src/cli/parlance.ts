#!/usr/bin/env node
/** The executable. Imports nothing until it knows that this Node can run it. */

const OLDEST_NODE_MAJOR = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE_MAJOR) {
  console.error(`error: Parlance needs Node ${OLDEST_NODE_MAJOR} or newer; this is ${process.version}.`);
  process.exit(1);
}

const words = process.argv.slice(2);

process.stdout.on("error", (failure: NodeJS.ErrnoException) => {
  if (failure.code !== "EPIPE") throw failure;
  // The reader has seen enough, as `head` has after ten lines; a service does not stop because nobody reads on.
  if (words[0] !== "serve") process.exit(0);
});

const { runCommand } = await import("./run-command.ts");
const exitCode = await runCommand(words);
// Not before everything is written, and not later: a timer that was left must not hold the terminal.
process.stdout.write("", () => process.exit(exitCode));
