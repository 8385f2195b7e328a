/** Prompts, evals and documents of the pictures. */

import type { Service } from "../../test/support/service/service.ts";

/** Support tickets, with the label that a model should give and what the small model says. */
const TICKETS = [
  ["My parcel has not moved since Monday.", "shipping", "shipping"],
  ["The invoice has the wrong address.", "billing", "billing"],
  ["I cannot reset my password.", "account", "account"],
  ["The lamp arrived broken.", "returns", "shipping"],
  ["Do you deliver to Norway?", "shipping", "shipping"],
  ["Please delete my data.", "account", "account"],
  ["I was charged twice.", "billing", "billing"],
  ["The size does not fit.", "returns", "returns"],
] as const;

/** Replies of the scripted models to the tickets, as parts of a list in YAML. */
export function ticketReplies(model: "large" | "small"): string {
  return TICKETS.map(([ticket, label, guess]) =>
    JSON.stringify({ match: ticket, text: model === "large" ? label : guess, delay_ms_per_token: 3 }),
  ).join(", ");
}

const DOCUMENTS = {
  "refunds.md": `# Refunds

Customers may return an item within thirty days. A refund is on the account two working days after the item has arrived at the warehouse. Vouchers are refunded as vouchers.

# Exceptions

Opened hygiene articles and goods that were made to measure cannot be returned.`,
  "shipping.md": `# Shipping

Parcels leave the warehouse on the day of the order until 14:00. Delivery takes one to three working days within the country, and up to six in Norway and Switzerland.`,
  "support-hours.md": `# Support

The hotline answers from eight to eighteen on working days. Chats and e-mails are answered within four hours.`,
};

const CLASSIFY = "Give the ticket one label: shipping, billing, account or returns.";

/** Resolves with the paths of the pages that show them. */
export async function seedWork(service: Service): Promise<{ prompt: string; evaluation: string; store: string }> {
  return { prompt: await seedPrompt(service), evaluation: await seedEval(service), store: await seedStore(service) };
}

async function seedPrompt(service: Service): Promise<string> {
  const content = (instructions: string) => ({
    model: "swift-8b",
    messages: [
      { role: "developer", content: instructions },
      { role: "user", content: "{{ticket}}" },
    ],
    temperature: 0,
  });
  const { id } = await post(service, "/v1/prompts", { name: "ticket-label", content: content(CLASSIFY) });
  const versions = [
    { content: content(`${CLASSIFY} Answer with the label alone.`), note: "Label alone", labels: ["production"] },
    {
      content: content(`${CLASSIFY} Answer with the label alone. Broken goods are returns.`),
      note: "Broken goods are returns",
      labels: ["staging"],
    },
  ];
  for (const version of versions) await post(service, `/v1/prompts/${id}/versions`, version);
  for (const version of ["1", "2", "2", "3"]) {
    for (const [ticket] of TICKETS) {
      await post(service, "/v1/responses", { prompt: { id: "ticket-label", version, variables: { ticket } } });
    }
  }
  return `/prompts/${id}`;
}

async function seedEval(service: Service): Promise<string> {
  const { id } = await post(service, "/v1/evals", {
    name: "Ticket labels",
    data_source_config: { type: "custom", item_schema: { type: "object" } },
    testing_criteria: [
      {
        ...{ type: "string_check", name: "right label", operation: "ilike" },
        ...{ input: "{{sample.output_text}}", reference: "{{item.label}}" },
      },
    ],
  });
  const content = TICKETS.map(([ticket, label]) => ({ item: { ticket, label } }));
  await post(service, `/v1/evals/${id}/comparisons`, {
    data_source: {
      type: "completions",
      source: { type: "file_content", content },
      input_messages: { type: "template", template: [{ role: "user", content: "{{item.ticket}}" }] },
    },
    variants: [
      { name: "atlas-70b", model: "atlas-70b" },
      { name: "swift-8b", model: "swift-8b" },
    ],
  });
  const isOver = async () => {
    const { data } = await service.client().evals.runs.list(id);
    return data.length === 2 && data.every(({ status }) => status === "completed");
  };
  while (!(await isOver())) await new Promise((resume) => setTimeout(resume, 200));
  return `/evals/${id}`;
}

async function seedStore(service: Service): Promise<string> {
  const { files, vectorStores } = service.client();
  const { id } = await vectorStores.create({ name: "Customer handbook" });
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    const file = await files.create({ file: new File([text], name), purpose: "assistants" });
    await vectorStores.files.createAndPoll(id, { file_id: file.id });
  }
  return `/stores/${id}`;
}

async function post(service: Service, path: string, body: unknown): Promise<{ id: string }> {
  const response = await service.post(path, body);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { id: string };
}
