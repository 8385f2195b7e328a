/** Renders the page of the reference that says what becomes of each field. */

import { FIELD_DECISIONS } from "./decisions.ts";
import { FIELD_GROUPS } from "./groups.ts";

const DECISIONS = ["forwarded", "honored", "refused", "listed"] as const;

export function fieldsPage(): string {
  const sections = Object.entries(FIELD_GROUPS).map(([key, group]) => {
    const rows = [...group.names].map((name) => {
      const decisions = FIELD_DECISIONS[key]?.[name] ?? [];
      const cells =
        decisions.length === 2 ? decisions : group.task === undefined ? [decisions[0], ""] : ["", decisions[0]];
      return `| \`${group.at === "" ? name : `${group.at}.${name}`}\` | ${cells.join(" | ")} |`;
    });
    const title = `### \`POST ${group.operation}\`${group.at === "" ? "" : `: \`${group.at}\``} (${group.document})`;
    const head = group.task === undefined ? "| Field | Decision | |" : "| Field | Local model | Upstream |";
    return `${title}\n\n${head}\n|---|---|---|\n${rows.join("\n")}`;
  });
  return `# Fields of requests

<!-- Written by npm run reference. Do not edit. -->

What becomes of each field that the documents of OpenAI, Anthropic, Google, Cohere, Jina and Voyage have. A test compares this list with the types of the official SDKs, and sends each field to a local model and to an upstream with OpenAI's chat completions. An upstream that speaks the format of the request gets every field as it is.

- \`forwarded\`: an upstream gets the field by its name.
- \`honored\`: the service reads it, for itself or for what it sends to the upstream.
- \`refused\`: a 400 names it, because leaving it out would change the answer.
- \`listed\`: it has no effect, and the response header \`x-parlance-ignored-fields\` names it.

${countsTable()}

${sections.join("\n\n")}
`;
}

function countsTable(): string {
  const documents = Map.groupBy(Object.entries(FIELD_GROUPS), ([, { document }]) => document);
  const rows = [...documents].map(([document, groups]) => {
    const decisions = groups.flatMap(([key]) => Object.values(FIELD_DECISIONS[key] ?? {}));
    const counts = DECISIONS.map((each) => decisions.flat().filter((decision) => decision === each).length);
    return `| ${document} | ${decisions.length} | ${counts.join(" | ")} |`;
  });
  const head = `| Document | Fields | ${DECISIONS.map((each) => `\`${each}\``).join(" | ")} |`;
  return `Decisions by document; a field has one for local models and one for upstreams where both take the request:\n\n${head}\n|---|---|---|---|---|---|\n${rows.join("\n")}`;
}
