/** Models and traffic of the pictures: nothing in them is a measurement. */

import { join } from "node:path";
import { toWav } from "@parlance-inference/audio/encode-pcm";
import BetterSqlite from "better-sqlite3";
import type { Service } from "../../test/support/service/service.ts";
import { ticketReplies } from "./sample-work.ts";

const MCP_SERVER = new URL("./sample-mcp-server.ts", import.meta.url).pathname;

const ANSWER = `A **token bucket** allows short bursts:

\`\`\`python
class TokenBucket:
    def take(self):
        self.refill()
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True
\`\`\`

It refills at a steady rate, up to its size.
`;

const SHORT = `Use a **token bucket**: it gains \`rate\` tokens a second, up to \`burst\`.

1. Store the count and its time.
2. On a request, add what has accrued.
3. Take a token, or refuse.

Several replicas keep it in Redis.`;

const QUESTION = "How late may I ask for my money back?";

const MEETING = [
  "Good morning, everyone.",
  "Shall we go through the release plan?",
  "Yes, please.",
  "The gateway has been stable for two weeks, so I would ship on Thursday.",
  "Thursday works for me.",
  "What about the migration?",
  "It runs online and takes about four minutes on the copy of production.",
  "Then let us announce it tomorrow.",
  "I will write the note this afternoon, and Ben checks the numbers.",
  "Happy to.",
  "One more thing: the new dashboard needs a picture for the docs.",
];

/** `first`: replies to certain messages, each followed by a comma. */
const scripted = (text: string, delays: string, first = "") =>
  `[{ engine: scripted, replies: [${first}{ text: ${JSON.stringify(text)}, ${delays} }] }]`;

export function sampleConfig(webhook: string): string {
  return `
local: { load: on_demand }
mcp_servers:
  - { name: wiki, command: ["${process.execPath}", "${MCP_SERVER}", wiki], price_per_call: "0.001" }
  - { name: tickets, command: ["${process.execPath}", "${MCP_SERVER}", tickets], require_approval: always }
  - { name: calendar, url: "http://127.0.0.1:9/mcp" }
webhooks:
  - { url: "${webhook}/hooks/operations", secret: "whsec_${Buffer.alloc(32, "s").toString("base64")}" }
  - { url: "${webhook}/billing", secret: "whsec_${Buffer.alloc(32, "b").toString("base64")}", events: [budget.reached, spend_limit.reached] }
models:
  - { id: atlas-70b, task: chat, price: { prompt: "0.0000006", completion: "0.0000024" }, deployments: ${scripted(ANSWER, "delay_ms_before_first: 240, delay_ms_per_token: 9", `${ticketReplies("large")}, `)} }
  - { id: swift-8b, task: chat, price: { prompt: "0.00000008", completion: "0.0000003" }, deployments: ${scripted(SHORT, "delay_ms_before_first: 60, delay_ms_per_token: 4", `${ticketReplies("small")}, `)} }
  - id: team-chat
    task: chat
    price: { prompt: "0.0000002", completion: "0.0000008" }
    retries: 1
    fallbacks: [swift-8b]
    deployments:
      - { engine: scripted, replies: [{ match: refund, fail_after_tokens: 0, fail_with: { kind: upstream-failed, message: "CUDA out of memory." }, delay_ms_before_first: 180 }, { text: "Within thirty days. It is on your account two days later.", delay_ms_before_first: 120, delay_ms_per_token: 12 }] }
  - id: support-agent
    task: chat
    price: { prompt: "0.0000002", completion: "0.0000008" }
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/Within/", text: "Refunds are possible **within thirty days**, to the card that paid.", delay_ms_per_token: 4 }
          - { match_tool: "/Refunds/", tool_calls: [{ name: wiki__read_page, arguments: { title: Refunds } }] }
          - { match: refund, tool_calls: [{ name: wiki__search_pages, arguments: { query: refund policy, space: support } }] }
  - { id: colorist, task: image, price: { image: "0.02" }, deployments: [{ engine: scripted, replies: [{ text: "", delay_ms_before_first: 300 }] }] }
  - { id: keen-ear, task: transcription, deployments: ${scripted(QUESTION, "delay_ms_before_first: 90")} }
  - { id: meeting-notes, task: transcription, deployments: ${scripted(MEETING.join(" "), "delay_ms_per_token: 0")} }
`;
}

/** Requests as of an hour, batches, files and deliveries. Resolves with the ID of a request that was retried. */
export async function seed(service: Service, webhook: string): Promise<string> {
  const say = (model: string, content: string) =>
    service
      .post("/v1/chat/completions", { model, messages: [{ role: "user", content }] })
      .then((answer) => answer.text());
  const rounds = Array.from({ length: 12 }, async (_, index) => {
    for (let each = 0; each < 6; each += 1) {
      const model = (["swift-8b", "team-chat", "atlas-70b"] as const)[(index + each) % 3] ?? "swift-8b";
      await say(model, each === 5 && index % 4 === 0 ? "Where is my refund?" : `Question ${index} of ${each}`);
    }
  });
  await Promise.all(rounds);
  await callTools(service);
  await batch(service, "Label support tickets", 60);
  const isOver = async () => (await service.client().batches.list()).data.every(({ status }) => status === "completed");
  while (!(await isOver())) await new Promise((resume) => setTimeout(resume, 500));
  for (const path of ["/hooks/operations", "/billing", "/hooks/operations", "/hooks/operations"]) {
    await administer(service, "POST", "/webhooks/test", { url: `${webhook}${path}` });
  }
  spreadOverAnHour(service.dataDirectory);
  await say("team-chat", "Where is my refund?");
  await new Promise((resume) => setTimeout(resume, 1500));
  const { data } = await administer(service, "GET", "/requests?models=team-chat&limit=1");
  return data[0].id;
}

/** Calls of MCP tools, one of which the tool refuses. */
async function callTools(service: Service): Promise<void> {
  const call = (server: string, name: string, input: object) =>
    service.post(`/v1/mcp_servers/${server}/calls`, { name, arguments: input }).then((answer) => answer.text());
  await call("wiki", "search_pages", { query: "parental leave" });
  await call("wiki", "delete_page", { title: "Old handbook" });
  await call("tickets", "create_ticket", { title: "Printer on floor 3", priority: "low" });
  await call("tickets", "list_tickets", { priority: "high" });
  await call("wiki", "read_page", { title: "Refunds" });
}

export async function batch(service: Service, description: string, requests: number): Promise<void> {
  const lines = Array.from({ length: requests }, (_, index) =>
    JSON.stringify({
      ...{ custom_id: `row-${index + 1}`, method: "POST", url: "/v1/chat/completions" },
      body: {
        model: index % 20 === 19 ? "retired-model" : "team-chat",
        messages: [{ role: "user", content: `Ticket ${index + 1}` }],
      },
    }),
  );
  const { files, batches } = service.client();
  const name = `${description.toLowerCase().replaceAll(" ", "-")}.jsonl`;
  const { id } = await files.create({ file: new File([lines.join("\n")], name), purpose: "batch" });
  const endpoint = "/v1/chat/completions";
  await batches.create({ input_file_id: id, endpoint, completion_window: "24h", metadata: { description } });
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export async function administer(service: Service, method: string, path: string, body?: unknown): Promise<any> {
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return (await fetch(`${service.baseUrl}/organization${path}`, init)).json();
}

/** Traffic of seconds would be one bar of a chart. */
function spreadOverAnHour(dataDirectory: string): void {
  const database = new BetterSqlite(join(dataDirectory, "parlance.sqlite"));
  database.exec("UPDATE request_history SET at = at - abs(random() % 3300000)");
  database.close();
}

/** The meeting in the default voices, each sentence in an equal part of the recording, as the scripted model hears it. */
export async function meeting(service: Service): Promise<Buffer> {
  const sentences: Int16Array[] = [];
  for (const [index, input] of MEETING.entries()) {
    const body = { model: "hibari", voice: index % 2 === 0 ? "alloy" : "onyx", input, response_format: "pcm" };
    sentences.push(new Int16Array(await (await service.post("/v1/audio/speech", body)).arrayBuffer()));
  }
  const pause = 6000;
  const slot = Math.max(...sentences.map(({ length }) => length)) + pause;
  const samples = new Float32Array(slot * sentences.length);
  for (const [index, sentence] of sentences.entries()) {
    for (const [at, sample] of sentence.entries()) samples[index * slot + pause / 2 + at] = sample / 0x8000;
  }
  return Buffer.from(toWav(samples, 24_000));
}

/** A spoken question and the silence that ends the turn. */
export async function question(service: Service): Promise<Buffer> {
  const body = { model: "hibari", voice: "alloy", input: QUESTION, response_format: "pcm" };
  const spoken = new Int16Array(await (await service.post("/v1/audio/speech", body)).arrayBuffer());
  const samples = new Float32Array(spoken.length + 8 * 24_000);
  for (const [at, sample] of spoken.entries()) samples[at] = sample / 0x8000;
  return Buffer.from(toWav(samples, 24_000));
}
