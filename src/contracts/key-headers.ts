/** Headers, beside `Authorization`, in which clients of Anthropic's, Azure's and Google's APIs send their key. */
export const KEY_HEADERS = ["x-api-key", "api-key", "x-goog-api-key"] as const;
