/** Headers of every answer: the version of OpenAI's API, which its clients log, and the status of this service. */
export const SERVICE_HEADERS = { "openai-version": "2020-10-01", "x-parlance-status": "beta" } as const;
