/** Fails each test whose service worked for more than STALL_LIMIT_MS of CPU time without a turn of its event loop. */

import { afterAll, afterEach } from "vitest";
import { takeStalls } from "./stalls.ts";

function check(): void {
  const [stall, ...others] = takeStalls();
  if (stall === undefined) return;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const problem = `The service worked for ${stall.cpuMs} ms of CPU time without a turn of its event loop${more}`;
  throw new Error(`${problem}:\n    ${stall.stack.join("\n    ")}`);
}

afterEach(check);
afterAll(check);
