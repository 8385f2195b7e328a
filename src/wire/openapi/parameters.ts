/** Parameters of paths and queries, with what they are. */

import type { z } from "zod";
import type { Components, JsonSchema } from "./components.ts";
import type { RegisteredOperation } from "./operation.ts";

/** By name, or by the segment of the path before it and the name. */
const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  account: "ID of a service account.",
  alert: "ID of a spend alert.",
  batch: "ID of a batch.",
  "file_batches/batch": "ID of a batch of files.",
  budget: "ID of a budget.",
  chat: "ID of a saved chat, which the client chooses.",
  completion: "ID of a stored chat completion.",
  container: "ID of a container.",
  conversation: "ID of a conversation.",
  delivery: "ID of a delivery.",
  endpoint: "ID of a webhook endpoint.",
  end_user: "End user, as requests name it.",
  eval: "ID of an eval.",
  file: "ID of a file.",
  "assets/file": "Path of a file of the console.",
  "docs/file": "Path of a page or file of the documentation.",
  group: "ID of a group.",
  "Groups/id": "ID of a group.",
  "Users/id": "ID of a user.",
  "ResourceTypes/id": "Name of a resource type.",
  "Schemas/id": "URN of a schema.",
  "connections/id": "Name of a connection.",
  "mcp_servers/id": "Name of an MCP server.",
  "models/id": "ID of a model.",
  "requests/id": "ID of a request.",
  "settings/id": "Key of a setting, such as `limits.max_body_bytes`.",
  invite: "ID of an invite.",
  item: "ID of an item.",
  key: "ID of a key.",
  label: "Name of a label.",
  limit: "ID of a rate limit, or ID or alias of a model.",
  model: "ID or alias of a model.",
  organization: "ID of an organization.",
  project: "ID of a project.",
  prompt: "ID of a stored prompt.",
  skill: "ID of a skill.",
  provider: "Name of an OpenID Connect provider.",
  response: "ID of a response.",
  role: "ID of a role.",
  run: "ID of a run.",
  server: "Name of an MCP server.",
  store: "ID of a vector store.",
  upload: "ID of an upload.",
  user: "ID of a user.",
  "versions/version": "Number of a version.",
  share: "ID of a shared copy of a saved chat.",
};

/** Queries whose schema says nothing. */
const QUERY_PARAMETERS: Readonly<Record<string, string>> = {
  actor_emails: "Events of the users with these addresses.",
  actor_ids: "Events of these users and keys.",
  after: "ID of the last entry of the previous page.",
  after_id: "ID of the last entry of the previous page.",
  api_key_ids: "Only of these keys.",
  attributes: "Attributes to return, separated by commas.",
  background: "Answers at once; the pull goes on.",
  batch: "true: only requests of batches; false: only others.",
  before: "Entry before which the page ends.",
  before_id: "ID of the first entry of the next page.",
  bucket_width: "Length of a bucket.",
  buckets: "Number of buckets.",
  code: "Code of the provider's answer.",
  comparison_id: "Only runs of this comparison.",
  count: "Number of entries of a page.",
  deployments: "Only of these deployments.",
  "effective_at[gt]": "Unix seconds; only later events.",
  "effective_at[gte]": "Unix seconds; only events at this time or later.",
  "effective_at[lt]": "Unix seconds; only earlier events.",
  "effective_at[lte]": "Unix seconds; only events at this time or earlier.",
  emails: "Only users with these addresses.",
  end_time: "Unix seconds; only what is earlier. Left out: until now.",
  end_users: "Only of these end users.",
  error: "Failure that the provider reports.",
  error_description: "Explanation of the failure that the provider reports.",
  event_types: "Only events of these types.",
  excludedAttributes: "Attributes to leave out, separated by commas.",
  filter: "Only entries that match.",
  format: "Format of the answer.",
  from: "Version to compare with; left out: the one before.",
  group_by: "What the results are summed by, beside time.",
  group_type: "Kind of the group.",
  include: "Further fields of the answer.",
  include_archived: "Whether archived ones are listed, too.",
  include_metadata: "Whether entries have `metadata`.",
  include_model_access_groups: "Whether entries have `access_groups`.",
  intent: "transcription: the session transcribes.",
  iss: "Issuer of the provider's answer.",
  key: "Only answers of this cache key.",
  kind: "Only entries of this kind.",
  limit: "Number of entries of a page.",
  line_items: "Only costs of these models.",
  min_cost_usd: "Only requests that cost at least this many US dollars.",
  min_duration_ms: "Only requests that took at least this many milliseconds.",
  min_score: "Only requests with a feedback of at least this score, 0 to 1.",
  model: "ID or alias of a model.",
  models: "Only of these models.",
  only_model_access_groups: "Lists groups of models in place of models.",
  operations: "Only requests of these operations.",
  order: "Order of the entries by time.",
  outcome: "Only calls that ended like this.",
  owner: "Whose account at the server: the caller's, or the project's.",
  owner_project_access: "Only keys whose owner has, or no longer has, access to the project.",
  page: "`next_page` of the previous page.",
  project_id: "Only of this project.",
  project_ids: "Only of these projects.",
  prompts: "Only of these versions of stored prompts: ID and version.",
  purpose: "Only files of this purpose.",
  query: "Only entries with these words.",
  reason: "Why the change is made, for the audit log.",
  resource_ids: "Only events about these resources.",
  return_wildcard_routes: "Whether patterns of model IDs are listed, too.",
  search: "Only entries with this text.",
  server: "Only calls at this MCP server.",
  startIndex: "Position of the first entry of the page, from 1.",
  start_time: "Unix seconds; only what is at this time or later.",
  sizes: "Only images of these sizes: one of OpenAI's, or `other`.",
  sources: "Only images of these operations, such as `image.edit`.",
  starting_after: "Number of the event after which the stream goes on.",
  state: "State of the entry or of the sign-in.",
  status: "Only entries with this status.",
  stream: "Whether the answer is a stream of events.",
  tags: "Only of requests with these tags.",
  task: "Only models of this task.",
  tool: "Only calls of this tool.",
  tools: "Only of requests that called these tools.",
  url: "Only deliveries to this address.",
  user_ids: "Only of these users.",
};

const IF_MATCH = {
  name: "If-Match",
  in: "header",
  required: false,
  description: "Version that the request changes: another one is refused with the status 412.",
  schema: { type: "string" },
};

export function toParameters(
  { path, query, readsIfMatch = false }: RegisteredOperation,
  components: Components,
): object[] {
  return [
    ...(readsIfMatch ? [IF_MATCH] : []),
    ...[...path.matchAll(/([^/{}]+)\/\{(\w+)\}/g)].map(([, segment, name = ""]) => ({
      name,
      in: "path",
      required: true,
      description: PATH_PARAMETERS[`${segment}/${name}`] ?? PATH_PARAMETERS[name],
      schema: { type: "string", minLength: 1 },
    })),
    ...Object.entries(query?.shape ?? {}).flatMap(
      ([name, schema]) => toQueryParameter(name, schema as z.ZodType, components) ?? [],
    ),
  ];
}

function toQueryParameter(name: string, schema: z.ZodType, components: Components) {
  const { description, ...json }: JsonSchema = components.input(schema);
  // The schema refuses every value.
  if (Object.keys(json).length === 0) return undefined;
  return {
    name,
    in: "query",
    required: !schema.safeParse(undefined).success,
    description: description ?? descriptionOf(name),
    schema: json,
  };
}

/** Clients of OpenAI's send lists with brackets. */
function descriptionOf(name: string): string | undefined {
  const list = name.replace(/\[\]$/, "");
  return list === name ? QUERY_PARAMETERS[name] : `The same as \`${list}\`.`;
}
