import type { Task } from "../../api/models.ts";
import type { Host } from "./connections-api.ts";
import { perToken } from "./per-token.ts";

type HostModel = Host["models"][number];

export interface ChosenModel {
  /** Model of the host. */
  model: HostModel;
  /** ID that clients send. */
  id: string;
  task: Task;
  /** US dollars for a million tokens; empty: no price. */
  promptPrice: string;
  completionPrice: string;
}

/** Entries that connect a host and serve some of its models. */
export function hostEntries(name: string, host: Host, apiKey: string, chosen: readonly ChosenModel[]) {
  const key = apiKey === "" ? {} : { api_key: apiKey };
  const address = { base_url: host.base_url, ...key };
  // Connections are those of OpenAI's API; other engines have their address in the deployment.
  const isShared = host.engine === "openai-compatible";
  const models = chosen.map(({ model, id, task, promptPrice, completionPrice }) => {
    const prompt = perToken(promptPrice);
    const completion = perToken(completionPrice);
    const { tools, vision } = model.abilities;
    const abilities = { ...(tools !== null && { tools }), ...(vision !== null && { vision }) };
    const value = {
      id,
      task,
      ...((prompt !== undefined || completion !== undefined) && {
        price: { ...(prompt !== undefined && { prompt }), ...(completion !== undefined && { completion }) },
      }),
      deployments: [
        {
          ...(isShared ? { connection: name } : { engine: host.engine, ...address }),
          model: model.id,
          ...(model.context_window !== null && { context_window: model.context_window }),
          ...(isShared && task === "chat" && Object.keys(abilities).length > 0 && { abilities }),
        },
      ],
    };
    return { kind: "model", name: id, value };
  });
  return isShared ? [{ kind: "connection", name, value: address }, ...models] : models;
}
