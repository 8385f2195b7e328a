/** Schemas of the parts of messages in responses. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { TokenLogprob } from "../openai/chat/completion-answers.ts";
import { openAnswers } from "../openai/open-variants.ts";
import { named } from "../openapi/named.ts";

const nullable = z.string().nullable();
const count = z.int().min(0);

export const ResponseAnnotation = named(
  "ResponseAnnotation",
  openAnswers({
    file_citation: lazy.looseObject(() => ({
      type: z.literal("file_citation"),
      index: count.describe("Where the citation stands in the text."),
      file_id: z.string(),
      filename: z.string(),
    })),
    url_citation: lazy.looseObject(() => ({
      type: z.literal("url_citation"),
      url: z.string(),
      title: z.string(),
      start_index: count,
      end_index: count,
    })),
    container_file_citation: lazy.looseObject(() => ({
      type: z.literal("container_file_citation"),
      container_id: z.string(),
      file_id: z.string(),
      filename: z.string(),
      start_index: count,
      end_index: count,
    })),
  }),
);

const OutputText = named(
  "ResponseOutputText",
  lazy.looseObject(() => ({
    type: z.literal("output_text"),
    text: z.string(),
    annotations: z.array(ResponseAnnotation).optional(),
    logprobs: z.array(TokenLogprob).optional(),
  })),
);
const Refusal = named(
  "ResponseRefusal",
  lazy.looseObject(() => ({ type: z.literal("refusal"), refusal: z.string() })),
);
export const ReasoningText = named(
  "ResponseReasoningText",
  lazy.looseObject(() => ({ type: z.literal("reasoning_text"), text: z.string() })),
);
export const SummaryText = named(
  "ResponseSummaryText",
  lazy.looseObject(() => ({ type: z.literal("summary_text"), text: z.string() })),
);

/** Part of an item, as its events have it. */
export const ResponsePart = named(
  "ResponsePart",
  openAnswers({ output_text: OutputText, refusal: Refusal, reasoning_text: ReasoningText, summary_text: SummaryText }),
);

const InputText = lazy.looseObject(() => ({ type: z.literal("input_text"), text: z.string() }));
const InputImage = lazy.looseObject(() => ({
  type: z.literal("input_image"),
  image_url: nullable.optional(),
  file_id: nullable.optional(),
  detail: nullable.optional(),
}));
const InputFile = lazy.looseObject(() => ({
  type: z.literal("input_file"),
  file_id: nullable.optional(),
  file_url: nullable.optional(),
  file_data: nullable.optional(),
  filename: nullable.optional(),
}));

export const Content = named(
  "ResponseContent",
  openAnswers({
    output_text: OutputText,
    refusal: Refusal,
    input_text: InputText,
    input_image: InputImage,
    input_file: InputFile,
  }),
);
