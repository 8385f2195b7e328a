#!/usr/bin/env node
/** The executable. Imports nothing of Parlance until it knows that this Node can run it. */

import { fileURLToPath } from "node:url";

const OLDEST_NODE_MAJOR = 24;

const words = process.argv.slice(2);

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE_MAJOR) {
  const { findBundledNode, runWithNode } = await import("./bundled-node.ts");
  const node = findBundledNode();
  if (node !== undefined) process.exit(await runWithNode(node, fileURLToPath(import.meta.url), words));
  console.error(`error: Parlance needs Node ${OLDEST_NODE_MAJOR} or newer; this is ${process.version}.`);
  process.exit(1);
}

process.stdout.on("error", endUnread);

const { runCommand } = await import("./run-command.ts");
const exitCode = await runCommand(words);
// Not before everything is written, and not later: a timer that was left must not hold the terminal.
process.stdout.write("", (failure) => {
  if (failure) endUnread(failure);
  process.exit(exitCode);
});

function endUnread(failure: Error): void {
  // A service does not stop because nobody reads on, or because a disk is full.
  if (words[0] === "serve") return;
  const { code } = (process.stdout.errored ?? failure) as NodeJS.ErrnoException;
  // The reader has seen enough, as `head` has after ten lines.
  if (code === "EPIPE") process.exit(0);
  console.error(`error: Standard output cannot be written (${code}).`);
  process.exit(1);
}
