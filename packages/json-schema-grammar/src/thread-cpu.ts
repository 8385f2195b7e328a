/** CPU time of the calling thread in milliseconds, from an arbitrary start; wall-clock time before Node.js 23.9. */
export function threadCpuMs(): number {
  if (typeof process.threadCpuUsage !== "function") return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
