import { type Message, msg, t } from "../../i18n/translate.ts";

/** Titles of groups by the resource that events name first; others are titled by it. */
const TITLES: Readonly<Record<string, Message>> = {
  api_key: msg("Keys"),
  spend_limit: msg("Spending"),
  budget: msg("Spending"),
  deployment: msg("Deployments"),
  batch: msg("Batches"),
  response: msg("Responses"),
};

/** Groups types of events, such as `batch.failed`, by what they are about. */
export function groupEvents<Event extends { type: string }>(events: readonly Event[]): [string, Event[]][] {
  const groups = Map.groupBy(events, ({ type }) => {
    const resource = type.split(".")[0] ?? type;
    const title = TITLES[resource];
    return title === undefined ? resource : t(title);
  });
  return [...groups];
}
