/** Debian's Chromium, driven by playwright-core, which downloads no browser. */

import { spawnSync } from "node:child_process";
import { type Browser, chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "chromium";

export const hasChromium = spawnSync(EXECUTABLE, ["--version"]).status === 0;

/** Starts a headless browser; close it with `afterAll(() => browser.close())`. */
export async function launchChromium(): Promise<Browser> {
  const { stdout } = spawnSync("/bin/sh", ["-c", `command -v ${EXECUTABLE}`]);
  // CI runs as root, where Chromium cannot start its sandbox.
  return chromium.launch({ executablePath: stdout.toString().trim(), args: ["--no-sandbox"] });
}
