/** Titles of groups by the resource that events name first; others are titled by it. */
const TITLES: Readonly<Record<string, string>> = {
  api_key: "Keys",
  spend_limit: "Spending",
  budget: "Spending",
  deployment: "Deployments",
  batch: "Batches",
  response: "Responses",
};

/** Groups types of events, such as `batch.failed`, by what they are about. */
export function groupEvents<Event extends { type: string }>(events: readonly Event[]): [string, Event[]][] {
  const groups = Map.groupBy(events, ({ type }) => {
    const resource = type.split(".")[0] ?? type;
    return TITLES[resource] ?? resource;
  });
  return [...groups];
}
