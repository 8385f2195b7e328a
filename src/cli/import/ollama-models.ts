/** Converts the list of an Ollama server's models. */

import { asFields, asList, asText, type Imported, type Note } from "./imported.ts";

/** Families of embedding models. */
const EMBEDDING = /bert|embed|bge|minilm/i;

/** `tags`: answer of GET /api/tags. */
export function fromOllama(url: string, tags: unknown): Imported {
  const notes: Note[] = [];
  const models = asList(asFields(tags).models).flatMap((each) => {
    const { name, model, details, remote_host: remote } = asFields(each);
    const id = asText(model) ?? asText(name);
    if (id === undefined) return [];
    if (asText(remote) !== undefined)
      notes.push({ path: id, reason: `runs at ${remote}, where its prompts are sent.` });
    const isEmbedding = EMBEDDING.test(`${id} ${asText(asFields(details).family) ?? ""}`);
    const deployment = { engine: "openai-compatible", base_url: `${url.replace(/\/+$/, "")}/v1`, model: id };
    const alias = id.endsWith(":latest") ? [id.slice(0, -":latest".length)] : [];
    return [
      {
        ...{ id, task: isEmbedding ? "embedding" : "chat" },
        ...(alias.length > 0 && { aliases: alias }),
        deployments: [deployment],
      },
    ];
  });
  return { config: { builtin_models: false, models }, notes };
}
