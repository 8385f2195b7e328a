/** Open deployments of a chat model, and a catalog's model of them. */

import type { CatalogModel, ResolvedModel } from "../../../src/catalog/catalog.ts";
import type { ChatEvent, ChatModel } from "../../../src/contracts/chat-model.ts";
import { Deployment } from "../../../src/deployments/deployment.ts";
import {
  DEFAULT_POLICY,
  DEFAULT_ROUTING_OPTIONS,
  type RoutingOptions,
} from "../../../src/deployments/routing-options.ts";

interface ChatDeploymentOptions {
  chat?: () => AsyncIterable<ChatEvent>;
  prepare?: ChatModel["prepare"];
  /** Undefined: without limit. */
  slots?: number | undefined;
  routingOptions?: Partial<RoutingOptions>;
}

async function* answerNothing(): AsyncGenerator<ChatEvent> {}

export async function openChatDeployment(name: string, options: ChatDeploymentOptions = {}): Promise<Deployment> {
  const { chat = answerNothing, prepare, slots, routingOptions } = options;
  const model: ChatModel = {
    task: "chat",
    slots,
    device: "cpu",
    contextWindow: undefined,
    abilities: {
      tools: undefined,
      jsonSchema: undefined,
      logprobs: undefined,
      vision: undefined,
      reasoning: undefined,
      choices: undefined,
      completions: undefined,
      infill: undefined,
    },
    health: () => ({ state: "up" }),
    chat,
    ...(prepare && { prepare }),
    close: async () => {},
  };
  const deployment = new Deployment({
    name,
    engine: "scripted",
    isUpstream: false,
    task: "chat",
    routingOptions: { ...DEFAULT_ROUTING_OPTIONS, ...routingOptions },
    open: async () => model,
    onOpenFailure: () => {},
  });
  deployment.start();
  await deployment.opened(new AbortController().signal);
  return deployment;
}

export function resolvedModelOf(
  deployments: readonly Deployment[],
  routing: Partial<CatalogModel["routing"]> = {},
): ResolvedModel {
  const facts = { isBuiltin: false, createdAt: 1, ownedBy: "parlance", license: undefined, isHidden: false };
  const lists = { accessGroups: [], aliases: [], fallbacks: [], price: {} };
  const model = { id: "both", task: "chat" as const, ...facts, ...lists };
  return { id: "both", model: { ...model, routing: { ...DEFAULT_POLICY, ...routing }, deployments, pools: [] } };
}
