import { ENTITIES, personalDataFinder } from "@parlance-inference/text-privacy/personal-data/find-personal-data";
import { findSecrets } from "@parlance-inference/text-privacy/secrets/find-secrets";

/** Addresses of machines and streets: a log line needs the former, and messages have no latter. */
const KEPT = ["IP_ADDRESS", "MAC_ADDRESS", "LOCATION", "URL"];
const findPersonalData = personalDataFinder({ entities: ENTITIES.filter((type) => !KEPT.includes(type)) });
/** Characters of a message that a log line has at most. */
const MAX_LENGTH = 300;

/** Shortens the message of a fault for the log: a caller's error may quote the request, with personal data or secrets. */
export function withoutValues(message: string): string {
  // Ends of values beyond the limit would keep their beginnings from being found.
  const text = message.slice(0, 2 * MAX_LENGTH);
  return [findPersonalData, findSecrets].reduce(replaceMatches, text).slice(0, MAX_LENGTH);
}

function replaceMatches(text: string, find: (text: string) => ReturnType<typeof findSecrets>): string {
  let output = "";
  let from = 0;
  for (const { type, start, end } of find(text)) {
    output += `${text.slice(from, start)}<${type}>`;
    from = end;
  }
  return output + text.slice(from);
}
