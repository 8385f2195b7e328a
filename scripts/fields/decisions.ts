/**
 * What becomes of each field of a request. A test compares the fields with those of the SDKs' types, and sends each one to
 * a local model and to an upstream with OpenAI's chat completions; an upstream that speaks the format of the request gets
 * every field as it is.
 */

/**
 * `forwarded`: an upstream gets it by its name. `honored`: the service reads it, for itself or for what it sends. `refused`:
 * a 400 names it. `listed`: it has no effect, and `x-parlance-ignored-fields` names it.
 */
export type Decision = "forwarded" | "honored" | "refused" | "listed";

/** Decisions for a local model and for an upstream; one where only one of them, or no model, takes the request. */
type Decisions = Decision | `${Decision}, ${Decision}`;

/** Fields by what becomes of them. */
const FIELDS: Readonly<Record<string, Readonly<Partial<Record<Decisions, string>>>>> = {
  chat: {
    "honored, forwarded":
      "messages frequency_penalty logit_bias logprobs max_completion_tokens max_tokens metadata n " +
      "parallel_tool_calls presence_penalty prompt_cache_key reasoning_effort response_format safety_identifier " +
      "seed stop stream stream_options temperature tool_choice tools top_logprobs top_p user",
    "honored, honored": "model moderation store",
    "refused, forwarded": "audio function_call functions modalities web_search_options",
    "listed, forwarded": "prediction prompt_cache_options prompt_cache_retention service_tier verbosity",
  },
  chatStreamOptions: {
    "listed, forwarded": "include_obfuscation",
    "honored, forwarded": "include_usage",
  },
  chatAssistantMessage: {
    "honored, forwarded": "role content name refusal tool_calls",
    "refused, forwarded": "audio function_call",
  },
  chatUserMessage: {
    "honored, forwarded": "content role name",
  },
  chatFunction: {
    "honored, forwarded": "name description parameters strict",
  },
  responses: {
    "listed, listed": "access_programs image",
    "honored, honored":
      "background context_management conversation include input instructions max_output_tokens max_tool_calls " +
      "metadata model moderation parallel_tool_calls previous_response_id prompt reasoning store stream_options " +
      "text tool_choice tools truncation",
    "honored, forwarded": "prompt_cache_key safety_identifier stream temperature top_p user",
    "listed, forwarded": "prompt_cache_options prompt_cache_retention service_tier",
    "refused, refused": "top_logprobs",
  },
  responsesFunction: {
    "honored, forwarded": "name parameters strict type description",
    "listed, listed": "allowed_callers async defer_loading output_schema",
  },
  responsesReasoning: {
    "listed, listed": "context mode",
    "honored, honored": "effort generate_summary summary",
  },
  responsesText: {
    "honored, honored": "format",
    "listed, forwarded": "verbosity",
  },
  responsesMessage: {
    "honored, forwarded": "content role",
    "listed, listed": "phase",
    "honored, honored": "type",
  },
  compact: {
    "honored, honored": "model input instructions previous_response_id",
    "listed, listed": "image",
    "honored, forwarded": "prompt_cache_key",
    "listed, forwarded": "prompt_cache_options prompt_cache_retention service_tier",
  },
  decisions: {
    "honored, honored": "model input questions",
    "honored, forwarded": "prompt_cache_key safety_identifier",
    "listed, forwarded": "prompt_cache_options",
  },
  completions: {
    "honored, honored": "model",
    "honored, forwarded":
      "prompt best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty seed stop stream " +
      "stream_options suffix temperature top_p user",
  },
  embeddings: {
    forwarded: "input dimensions encoding_format user",
    honored: "model",
  },
  moderations: {
    "honored, forwarded": "input",
    "honored, honored": "model",
  },
  speech: {
    "honored, forwarded": "input voice response_format speed",
    "honored, honored": "model stream_format",
    "listed, forwarded": "instructions",
  },
  transcriptions: {
    "honored, forwarded": "file model language prompt response_format stream temperature timestamp_granularities",
    "honored, honored": "chunking_strategy keywords",
    "refused, refused": "include known_speaker_names known_speaker_references languages",
  },
  translations: {
    "honored, forwarded": "file model prompt response_format temperature",
  },
  imageGenerations: {
    "honored, forwarded":
      "prompt background moderation n output_compression output_format partial_images quality response_format " +
      "safety_identifier size stream style user",
    "listed, listed": "complexity frame_duration_ms",
    "refused, refused": "frame_count svg",
    "honored, honored": "model",
  },
  imageEdits: {
    "honored, forwarded":
      "image prompt background input_fidelity mask model n output_compression output_format partial_images " +
      "quality response_format safety_identifier size stream user",
    "listed, listed": "complexity frame_duration_ms",
    "refused, refused": "frame_count markup",
  },
  imageVariations: {
    "honored, forwarded": "image model n response_format size user",
  },
  vectorStores: {
    honored: "description expires_after file_ids metadata name",
    // Without files; those that the request names are cut by it.
    listed: "chunking_strategy",
  },
  vectorStoreUpdates: {
    honored: "expires_after metadata name",
  },
  vectorStoreSearch: {
    honored: "query filters max_num_results ranking_options",
    refused: "rewrite_query",
  },
  files: {
    honored: "file purpose expires_after",
  },
  uploads: {
    honored: "bytes filename mime_type purpose expires_after",
  },
  evals: {
    honored: "data_source_config testing_criteria metadata name",
  },
  evalRuns: {
    honored: "data_source metadata name",
  },
  conversations: {
    honored: "items metadata",
  },
  conversationItems: {
    honored: "items include",
  },
  containers: {
    honored: "name expires_after file_ids network_policy skills",
    listed: "memory_limit",
  },
  clientSecrets: {
    honored: "expires_after session",
  },
  realtimeSession: {
    honored:
      "type audio instructions max_output_tokens model output_modalities parallel_tool_calls reasoning " +
      "tool_choice tools truncation",
    refused: "include prompt",
    listed: "tracing",
  },
  generateContent: {
    "honored, honored": "model contents systemInstruction tools toolConfig labels",
    "listed, honored": "serviceTier",
    "listed, listed": "safetySettings modelArmorConfig store",
    "refused, refused": "cachedContent imageConfig continuationToken generationOutputConfig",
  },
  generationConfig: {
    "listed, listed":
      "modelSelectionConfig audioTimestamp enableAffectiveDialog mediaResolution routingConfig " +
      "enableEnhancedCivicAnswers",
    "honored, honored":
      "responseJsonSchema candidateCount frequencyPenalty maxOutputTokens presencePenalty responseLogprobs " +
      "responseMimeType responseSchema stopSequences thinkingConfig topK topP",
    "refused, refused": "audioTranscriptionConfig responseFormat responseModalities speechConfig translationConfig",
    "honored, forwarded": "logprobs seed temperature",
  },
  embedContent: {
    honored: "model content outputDimensionality autoTruncate",
    listed: "taskType title mimeType documentOcr audioTrackExtraction",
  },
  messages: {
    "honored, forwarded": "max_tokens messages stream",
    "honored, honored":
      "model cache_control metadata output_config service_tier stop_sequences system thinking tool_choice tools " +
      "output_format",
    "refused, refused": "container compaction mcp_servers thread",
    "listed, listed":
      "diagnostics inference_geo speed user_profile_id workspace_id billing_policy context_management " +
      "fallback_credit_token fallbacks",
  },
  countTokens: {
    "honored, forwarded": "messages",
    "honored, honored": "model cache_control output_config system thinking tool_choice tools",
    "listed, listed": "speed user_profile_id workspace_id",
  },
  messagesTool: {
    "honored, honored": "input_schema cache_control type defer_loading",
    "honored, forwarded": "name description strict",
    "listed, listed": "allowed_callers eager_input_streaming input_examples",
  },
  messagesMetadata: {
    "honored, honored": "user_id",
  },
  messagesOutput: {
    "listed, listed": "effort",
    "honored, honored": "format",
  },
  messagesText: {
    "honored, honored": "text type cache_control",
    "listed, listed": "citations",
  },
  messagesDocument: {
    "honored, honored": "source type cache_control context title",
    "listed, listed": "citations",
  },
  cohereChat: {
    "honored, honored": "model strict_tools documents stop_sequences k p tool_choice thinking",
    "honored, forwarded":
      "messages stream tools response_format max_tokens temperature seed frequency_penalty presence_penalty",
    "listed, listed": "safety_mode priority citation_options",
    "refused, refused": "logprobs raw_prompting",
  },
  cohereEmbed: {
    honored: "model texts inputs output_dimension embedding_types truncate",
    listed: "input_type priority",
    refused: "images max_tokens",
  },
  mistralFim: {
    "honored, honored": "model random_seed metadata",
    "honored, forwarded": "prompt suffix temperature top_p max_tokens min_tokens stream stop",
  },
  cohereRerank: {
    honored: "model top_n",
    forwarded: "query documents",
    listed: "max_tokens_per_doc priority",
  },
  jinaEmbeddings: {
    honored: "model",
    forwarded: "input dimensions",
    refused: "embedding_type task normalized late_chunking truncate return_multivector",
  },
  jinaRerank: {
    honored: "model top_n return_documents",
    forwarded: "query documents",
    refused: "return_embeddings",
    listed: "truncation",
  },
  voyageEmbeddings: {
    forwarded: "input encoding_format",
    honored: "model",
    refused: "input_type output_dimension output_dtype",
    listed: "truncation",
  },
  voyageRerank: {
    forwarded: "query documents",
    honored: "model top_k return_documents",
    listed: "truncation",
  },
};

/** Decisions of each field, for a local model and for an upstream. */
export const FIELD_DECISIONS: Readonly<Record<string, Readonly<Record<string, readonly Decision[]>>>> =
  Object.fromEntries(Object.entries(FIELDS).map(([group, fields]) => [group, decisionsOf(fields)]));

function decisionsOf(fields: Partial<Record<Decisions, string>>): Record<string, readonly Decision[]> {
  const entries = Object.entries(fields).flatMap(([decisions, names]) =>
    names.split(" ").map((name) => [name, decisions.split(", ") as Decision[]]),
  );
  return Object.fromEntries(entries);
}
