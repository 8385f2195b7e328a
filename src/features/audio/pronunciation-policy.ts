/** How the words of a project are spoken. */

import type { FastifyPluginAsync } from "fastify";
import type { Pronunciation } from "../../inference/pronunciations.ts";
import {
  PronunciationSettings,
  Pronunciations,
  PronunciationsBody,
} from "../../wire/openai/organization/pronunciations.ts";
import { type Accounts, projectPolicyRoutes, StoredPolicy } from "../accounts/index.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Empty: texts are read as they are. */
    pronunciations: readonly Pronunciation[];
  }
}

const stored = new StoredPolicy<PronunciationSettings>({
  name: "pronunciations",
  settings: PronunciationSettings,
  strictest: [],
});

export const pronunciationPolicy = stored.forKeys<readonly Pronunciation[]>((words = []) => words);

/** /v1/organization/projects/{project}/pronunciations */
export function pronunciations({ transactions }: Pick<Accounts, "transactions">): FastifyPluginAsync {
  return projectPolicyRoutes(transactions, {
    path: "pronunciations",
    summaries: {
      retrieve: "Lists how the words of a project are spoken.",
      replace: "Replaces how the words of a project are spoken, by every speech model.",
    },
    body: PronunciationsBody,
    answer: Pronunciations,
    find: async (executor, { id }) => (await stored.find(executor, id)) ?? [],
    toValue: ({ data }) => data as PronunciationSettings,
    put: ({ executor, now }, { id }, words) => stored.put(executor, id, words, now),
    details: (words) => ({ pronunciations: words?.length ?? 0 }),
    toAnswer: (words) => ({ object: "list", data: words }),
  });
}
