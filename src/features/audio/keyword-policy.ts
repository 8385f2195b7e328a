/** Names and terms that recordings of a project have in them. */

import type { FastifyPluginAsync } from "fastify";
import {
  TranscriptionKeywordSettings,
  TranscriptionKeywords,
  TranscriptionKeywordsBody,
} from "../../wire/openai/organization/transcription-keywords.ts";
import { type Accounts, projectPolicyRoutes, StoredPolicy } from "../accounts/index.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** For transcriptions that have no prompt of their own. */
    transcriptionKeywords: readonly string[];
  }
}

const stored = new StoredPolicy<readonly string[]>({
  name: "transcription_keywords",
  settings: TranscriptionKeywordSettings,
  strictest: [],
});

export const keywordPolicy = stored.forKeys<readonly string[]>((keywords = []) => keywords);

/** /v1/organization/projects/{project}/transcription_keywords */
export function transcriptionKeywords({ transactions }: Pick<Accounts, "transactions">): FastifyPluginAsync {
  return projectPolicyRoutes<{ data: string[] }, readonly string[]>(transactions, {
    path: "transcription_keywords",
    summaries: {
      retrieve: "Lists the keywords that transcriptions of a project expect.",
      replace: "Replaces the keywords that transcriptions of a project expect, by models that take a prompt.",
    },
    body: TranscriptionKeywordsBody,
    answer: TranscriptionKeywords,
    find: async (executor, { id }) => (await stored.find(executor, id)) ?? [],
    toValue: ({ data }) => data,
    put: ({ executor, now }, { id }, keywords) => stored.put(executor, id, keywords, now),
    details: (keywords) => ({ transcriptionKeywords: keywords?.length ?? 0 }),
    toAnswer: (keywords) => ({ object: "list", data: keywords }),
  });
}
