#!/usr/bin/env node
/** Executable. Imports the rest of Parlance only after it has checked the Node.js version. */

import { fileURLToPath } from "node:url";

const MIN_NODE_MAJOR = 24;

const words = process.argv.slice(2);

if (Number.parseInt(process.versions.node, 10) < MIN_NODE_MAJOR) {
  const { findBundledNode, runWithNode } = await import("./bundled-node.ts");
  const node = findBundledNode();
  if (node !== undefined) process.exit(await runWithNode(node, fileURLToPath(import.meta.url), words));
  console.error(`error: Parlance requires Node.js ${MIN_NODE_MAJOR} or newer; this is ${process.version}.`);
  process.exit(1);
}

process.stdout.on("error", exitOnOutputError);

const { runCommand } = await import("./run-command.ts");
const exitCode = await runCommand(words);
// Exit as soon as all output is written: a remaining timer must not keep the process alive.
process.stdout.write("", (failure) => {
  if (failure) exitOnOutputError(failure);
  process.exit(exitCode);
});

function exitOnOutputError(failure: Error): void {
  // The service keeps running without a reader and on a full disk.
  if (words[0] === "serve") return;
  const { code } = (process.stdout.errored ?? failure) as NodeJS.ErrnoException;
  // The reader closed the pipe, as `head` does after ten lines.
  if (code === "EPIPE") process.exit(0);
  console.error(`error: Cannot write to standard output (${code}).`);
  process.exit(1);
}
