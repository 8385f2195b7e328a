/** How callers authenticate, as the document describes it. */

import type { Permission } from "./operation.ts";

export const SECURITY_SCHEMES = {
  project_key: { type: "http", scheme: "bearer", description: "API key of a project." },
  admin_key: { type: "http", scheme: "bearer", description: "Admin key of the organization." },
  key_header: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "A key as clients of Anthropic's API send it.",
  },
  google_key_header: {
    type: "apiKey",
    in: "header",
    name: "x-goog-api-key",
    description: "A key as clients of Gemini's API send it.",
  },
  console_session: {
    type: "apiKey",
    in: "cookie",
    name: "parlance_session",
    description: "Session of a person who signed in to the console.",
  },
  operator_key: {
    type: "http",
    scheme: "bearer",
    description: "Temporary key that a command creates on the machine of the service.",
  },
  metrics_key: { type: "http", scheme: "bearer", description: "Key of the setting `operations.metrics_key`." },
} as const;

type Requirement = Partial<Record<keyof typeof SECURITY_SCHEMES, []>>;

const OTHERS: readonly Requirement[] = [{ key_header: [] }, { google_key_header: [] }, { console_session: [] }];

/** Any one of these authenticates; an empty one means that none is needed. */
export const SECURITY: Readonly<Record<Permission, readonly Requirement[]>> = {
  project: [{ project_key: [] }, ...OTHERS],
  admin: [{ admin_key: [] }, ...OTHERS],
  "admin-or-project": [{ admin_key: [] }, { project_key: [] }, ...OTHERS],
  operator: [{ operator_key: [] }],
  "optional-admin": [{}, { admin_key: [] }],
  metrics: [{}, { metrics_key: [] }],
  console: [{}, { console_session: [] }],
  public: [],
};
