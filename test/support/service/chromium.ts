/** Debian's or another installed Chromium; tests that need it are skipped without one. */

import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { chromium } from "playwright-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const chromiumPath: string | undefined = process.env.CHROMIUM_PATH ?? PATHS.find((path) => existsSync(path));

export const hasChromium = chromiumPath !== undefined;

export async function launchChromium(features: readonly string[] = []): Promise<Browser> {
  // Containers run tests as root, where Chromium's sandbox does not start.
  const args = [...features, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
  return chromium.launch({ executablePath: chromiumPath ?? "chromium", args });
}
