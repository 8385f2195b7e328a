import { readFileSync } from "node:fs";
import type { ServiceProcess } from "./service-process.ts";

/**
 * CPU time of the thread that answers a service's requests, on Linux. Unlike a latency, it does not depend on what else
 * the machine does.
 */
export function mainThreadMs({ process: { pid } }: ServiceProcess): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  // utime and stime, in hundredths of a second.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
