/** This process's environment without Parlance's variables; pip, npm and TLS keep their settings. */
export function cleanEnvironment(): Record<string, string> {
  const parlances = /^(PARLANCE_|HF_|OTEL_|DATABASE_URL$|REDIS_URL$)/;
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !parlances.test(entry[0]),
    ),
  );
}
