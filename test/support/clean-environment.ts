/** This process's environment without what Parlance reads: pip, npm and TLS keep the settings that this machine needs. */
export function cleanEnvironment(): Record<string, string> {
  const parlances = /^(PARLANCE_|HF_|DATABASE_URL$|REDIS_URL$)/;
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !parlances.test(entry[0]),
    ),
  );
}
