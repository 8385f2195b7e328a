/** `parlance autostart`: starts the service at each login, by a unit of systemd for this user. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { Command } from "commander";
import { Fault } from "../kernel/faults.ts";
import { serviceFolder } from "./config-sources.ts";

const run = promisify(execFile);
export const UNIT = "parlance.service";

export function autostartCommand(): Command {
  const command = new Command("autostart");
  command
    .command("enable")
    .description("Start the service now and at each login")
    .action(async () => console.log(`Started, now and at each login: ${await enableAutostart()}`));
  command
    .command("disable")
    .description("Stop the service, and start it at no further login")
    .action(async () => {
      await systemctl("disable", "--now", UNIT);
      await rm(unitFile(), { force: true });
      console.log("Stopped. It starts at no further login.");
    });
  return command;
}

/** Whether systemd runs this machine: sd_booted(3). */
export function hasSystemd(): boolean {
  return existsSync("/run/systemd/system");
}

/** Whether systemd runs the service of this user. */
export async function isAutostarted(): Promise<boolean> {
  return systemctl("is-active", "--quiet", UNIT).then(
    () => true,
    () => false,
  );
}

/** Resolves with the path of the unit. Throws a Fault without systemd. */
export async function enableAutostart(): Promise<string> {
  // Before the file is written, so that a machine without systemd keeps none.
  await systemctl("--version");
  const file = unitFile();
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, unit(startCommand(), serviceFolder()));
  await systemctl("daemon-reload");
  await systemctl("enable", UNIT);
  await systemctl("restart", UNIT);
  return file;
}

function unitFile(): string {
  return join(process.env.XDG_CONFIG_HOME ?? join(homedir(), ".config"), "systemd/user", UNIT);
}

/** The launcher of an installation, which stays where it is when a version is replaced, or this program. */
function startCommand(): string[] {
  const { PARLANCE_LAUNCHER: launcher } = process.env;
  if (launcher) return [resolve(launcher), "serve"];
  return [process.execPath, "--max-semi-space-size=16", resolve(process.argv[1] ?? ""), "serve"];
}

function unit(command: readonly string[], folder: string): string {
  return `[Unit]
Description=Parlance inference service

[Service]
ExecStart=${command.map(quote).join(" ")}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=${escapeSpecifiers(folder)}
Restart=on-failure
RestartSec=2
TimeoutStopSec=45
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** systemd.service(5), "Command lines". */
function quote(word: string): string {
  const escaped = escapeSpecifiers(word).replaceAll("$", "$$$$").replaceAll(/["\\]/g, "\\$&");
  return /[\s"'\\]/.test(word) ? `"${escaped}"` : escaped;
}

/** systemd.unit(5), "Specifiers". */
function escapeSpecifiers(text: string): string {
  return text.replaceAll("%", "%%");
}

/** Throws a Fault without systemd, and for what it refuses. */
export async function systemctl(...words: string[]): Promise<void> {
  try {
    await run("systemctl", ["--user", ...words]);
  } catch (failure) {
    const { code, stderr = "" } = failure as NodeJS.ErrnoException & { stderr?: string };
    const reason = code === "ENOENT" ? "there is no systemd on this machine" : stderr.trim();
    const message = `systemd does not start the service: ${reason}. Start it with \`parlance serve\`.`;
    throw new Fault("unsupported", message, { cause: failure });
  }
}
