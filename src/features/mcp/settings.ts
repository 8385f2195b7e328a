/** List `mcp_servers` and section `mcp`. */

import { z } from "zod";
import { Secret } from "../../kernel/secret.ts";
import { mapping } from "../../kernel/settings/mapping.ts";
import { memory } from "../../kernel/settings/sizes.ts";
import { webhookUrl } from "../../kernel/settings/webhooks.ts";

const secretTexts = z.record(
  z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, { error: "must be 1 to 100 letters, digits, _, . or -" }),
  z.string().transform((value) => new Secret(value)),
);

/** US dollars, exact. */
const dollars = z.string().regex(/^\d{1,9}(\.\d{1,15})?$/, { error: 'must be US dollars as a text, such as "0.005"' });

const toolNames = z.array(z.string().min(1).max(128)).max(1000);

const projects = z.array(z.string().min(1)).min(1).optional().describe("IDs of projects. Default: every project.");

const offers = () => ({
  tools: toolNames.optional().describe("Tools that they may use. Default: all of the server."),
  prompts: toolNames
    .optional()
    .describe("Prompts that they may get. Default: all of the server, or none in an entry with `tools`."),
  resources: z
    .array(z.string().min(1).max(2000))
    .max(1000)
    .optional()
    .describe(
      "Addresses of resources that they may read; a final `*` stands for any end. Default: all of the server, or none in an entry with `tools`.",
    ),
});

const access = mapping(() => ({ projects, ...offers() }));

const scope = z.string().regex(/^[!#-[\]-~]{1,200}$/, { error: "must be a scope, without spaces" });

const oauth = mapping(
  () => ({
    issuer: webhookUrl
      .optional()
      .describe(
        "Authorization server that issues the tokens, as the server names it. Needed with `client_id`, and for one on this machine or a private network. Default: the first one that the server names.",
      ),
    client_id: z
      .string()
      .min(1)
      .max(2000)
      .optional()
      .describe("Client ID that the authorization server gave this service. Default: this service registers itself."),
    client_secret: z
      .string()
      .min(1)
      .max(4096)
      .transform((secret) => new Secret(secret))
      .optional()
      .describe(
        "Client secret. Pass it as an environment variable. Default: a public client, protected by PKCE alone.",
      ),
    scopes: z.array(scope).max(100).optional().describe("Scopes to request. Default: those that the server asks for."),
    registration: z
      .enum(["auto", "metadata_document", "dynamic"])
      .default("auto")
      .describe(
        "How the service introduces itself without `client_id`. metadata_document: by the address of its metadata, which the authorization server has to reach. dynamic: by a registration (RFC 7591). auto: the first where the authorization server supports it and `sign_on.public_url` is https, else the second.",
      ),
  }),
  "Accounts of callers: each person connects one in the console, with OAuth, and calls have its token.",
)
  .refine(({ issuer, clientId }) => clientId === undefined || issuer !== undefined, {
    error: "needs `issuer` with `client_id`, so that no other authorization server gets the secret",
  })
  .refine(({ clientId, clientSecret }) => clientSecret === undefined || clientId !== undefined, {
    error: "needs `client_id` with `client_secret`",
  });

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,30}$/, {
  error: "must be 1 to 31 letters, digits or -, and begin with a letter or digit",
});

const server = mapping(() => ({
  name: name.describe("Name by which requests call it (`server_label`) and prefix of its tools at /mcp."),
  url: webhookUrl.optional().describe("Address of a server that speaks streamable HTTP. Redirects are not followed."),
  openapi: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      "URL, or path, of an OpenAPI document (3.0 or 3.1, JSON or YAML, up to 16 MiB and 1,000 operations) whose operations become tools. `url` is then the address of the API; without it, it is the document's first server, which has to be where the document came from.",
    ),
  command: z
    .array(z.string())
    .min(1)
    .optional()
    .describe("Instead of `url`: program and arguments of a server that speaks over standard input and output."),
  environment: secretTexts
    .default({})
    .describe("Environment variables of the command. It gets no others except PATH, HOME and the like."),
  max_memory: memory
    .prefault("4GiB")
    .describe(
      "Maximum resident memory of the command's process with all that it starts, where the system has /proc. Beyond it they are ended, and start again with a later call.",
    ),
  headers: secretTexts.default({}).describe("Headers of all requests to the server, such as its key."),
  caller_authorization: z
    .boolean()
    .default(false)
    .describe(
      "Whether the `authorization` that a caller sends with the tool goes to the server, in place of `headers.authorization`. false: such a request is refused. Keys of this service never go there.",
    ),
  oauth: oauth.optional(),
  access: z
    .array(access)
    .max(1000)
    .default([{ projects: undefined, tools: undefined, prompts: undefined, resources: undefined }])
    .describe("Who may use which tools: a tool is allowed if an entry with the caller's project has it."),
  require_approval: z
    .enum(["caller", "always"])
    .default("caller")
    .describe("caller: requests say which calls need an approval. always: every call within a response needs one."),
  price_per_call: dollars.optional().describe('US dollars of each call of a tool, as a text such as "0.005".'),
  prices: z
    .record(z.string(), dollars)
    .default({})
    .describe(
      "US dollars of each call by the name of the tool, in place of `price_per_call`; also of `prompts/get`, `resources/read` and `completion/complete`, which are free otherwise.",
    ),
  timeout_seconds: z.number().min(0.1).max(3600).default(60).describe("Time after which a call counts as a failure."),
  max_result_size: memory.prefault("1MiB").describe("Maximum size of a result that a model reads, such as 0.5MiB."),
}))
  .refine(({ url, openapi, command }) => (url === undefined && openapi === undefined) !== (command === undefined), {
    error: "needs `url`, `openapi` or `command`; only `url` and `openapi` go together",
  })
  .refine(({ command, headers, callerAuthorization }) => {
    return command === undefined || (Object.keys(headers).length === 0 && !callerAuthorization);
  }, "has no headers: a command gets its keys in `environment`")
  .refine(({ command, oauth }) => command === undefined || oauth === undefined, {
    error: "has no `oauth`: a command gets its keys in `environment`",
  })
  .refine(({ url, oauth }) => url !== undefined || oauth === undefined, {
    error: "needs `url` with `oauth`, so that no document says where the tokens go",
  })
  .refine(
    ({ oauth, callerAuthorization, headers }) =>
      oauth === undefined ||
      !(callerAuthorization || Object.keys(headers).some((header) => header.toLowerCase() === "authorization")),
    { error: "has one source of `authorization`: `oauth`, `caller_authorization` or `headers.authorization`" },
  );

/** Refuses names that are not unique below /mcp. */
const checkNames =
  (kind: string) =>
  (entries: readonly { name: string }[], context: z.RefinementCtx): void => {
    const names = new Set<string>();
    entries.forEach(({ name }, index) => {
      const lower = name.toLowerCase();
      const refuse = (message: string) => context.addIssue({ code: "custom", path: [index, "name"], message });
      if (names.has(lower)) refuse(`is the name of another ${kind}; upper and lower case count as equal`);
      if (lower === "parlance") refuse("must not be `parlance`, which is the service itself at /mcp/parlance");
      names.add(lower);
    });
  };

export const mcpServerSettings = z
  .array(server)
  .max(200)
  .superRefine(checkNames("server"))
  .default([])
  .describe("MCP servers whose tools requests may use.");

const selection = mapping(() => ({
  server: z.string().min(1).describe("Name of a server in `mcp_servers`."),
  ...offers(),
}));

const toolset = mapping(() => ({
  name: name.describe("Its address is /mcp/ and this name, which no server has."),
  description: z
    .string()
    .min(1)
    .max(10_000)
    .optional()
    .describe("What it is for, which clients give their models as instructions."),
  projects: projects.describe("IDs of the projects that may use it. Default: every project."),
  servers: z
    .array(selection)
    .min(1)
    .max(50)
    .superRefine((entries, context) => {
      entries.forEach(({ server }, index) => {
        if (entries.findIndex((each) => each.server === server) === index) return;
        context.addIssue({ code: "custom", path: [index, "server"], message: "is in another entry of the toolset" });
      });
    })
    .describe("What it selects of which servers, within what `access` of the server allows the client's project."),
}));

export const mcpToolsetSettings = z
  .array(toolset)
  .max(200)
  .superRefine(checkNames("toolset"))
  .default([])
  .describe("Selections over several MCP servers, each an MCP server at its own address.");

export const mcpSettings = mapping(
  () => ({
    caller_servers: z
      .enum(["refuse", "public"])
      .default("refuse")
      .describe(
        "What to do with servers that a request names by their address (`server_url`). refuse: only an upstream with the Responses API may reach them. public: the service calls them, except at addresses of this machine and of private networks.",
      ),
    gateway: z
      .boolean()
      .default(true)
      .describe("Whether /mcp offers the tools of `mcp_servers` to MCP clients. Without servers, there is no /mcp."),
    commands: z
      .enum(["file_only", "live"])
      .default("file_only")
      .describe(
        "Whether administrators may add servers with a `command` through the API: such a server runs any program on this machine, as the user of this service. file_only: commands are set in this file only.",
      ),
    operations: z
      .boolean()
      .default(false)
      .describe(
        "Whether /mcp/parlance offers the service's operations to MCP clients: chat, transcription, speech, moderation, embeddings and search in vector stores, with the permissions and limits of the client's key.",
      ),
  }),
  "Servers of the Model Context Protocol.",
);

export type McpServerSettings = z.output<typeof mcpServerSettings>[number];
export type McpToolsetSettings = z.output<typeof mcpToolsetSettings>[number];
export type McpSettings = z.output<typeof mcpSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    mcp: z.output<typeof mcpSettings>;
    mcpServers: readonly McpServerSettings[];
    mcpToolsets: readonly McpToolsetSettings[];
  }
}
