/** Summary of every route. `npm run reference` fails for a route without one. */
export const ROUTE_SUMMARIES: Readonly<Record<string, string>> = {
  "GET /health/live": "Returns 200 while the process is alive.",
  "GET /health/ready":
    "Returns 200 once the database is available and no built-in model is loading, otherwise 503. With an admin key, lists the state and device of each deployment.",
  "GET /metrics": "Returns [metrics](metrics.md) in the Prometheus text format.",
  "POST /v1/chat/completions": "Creates a chat completion, streamed or not.",
  "GET /v1/models":
    "Lists the models that the key may use; `?include_metadata=true` adds capabilities, prices and context windows.",
  "GET /v1/models/": "The same as `GET /v1/models`.",
  "GET /v1/audio/models": "Lists the speech models, in the form that speech clients read.",
  "POST /v1/organization/models/{id}/load":
    "Loads a model. Not in OpenAI's API; admin keys of the default organization only.",
  "POST /v1/organization/models/{id}/unload": "Unloads a model and frees its memory. Not in OpenAI's API.",
  "POST /v1/organization/models/{id}/pull": "Downloads a model and streams the progress. Not in OpenAI's API.",
  "DELETE /v1/organization/models/{id}": "Removes a model's files. Not in OpenAI's API.",
  "GET /v1/models/*": "Retrieves one model. Its id may contain slashes.",
  "POST /v1/moderations": "Classifies text or images.",
  "POST /v1/audio/speech": "Synthesizes speech.",
  "GET /v1/audio/voices": "Lists the voices of all models, or of `?model=`.",
  "POST /v1/audio/transcriptions": "Transcribes a recording in its language.",
  "POST /v1/audio/translations": "Transcribes a recording into English.",
  "POST /v1/organization/projects": "Creates a project.",
  "GET /v1/organization/projects": "Lists the projects.",
  "GET /v1/organization/projects/{project}": "Retrieves a project.",
  "POST /v1/organization/projects/{project}": "Renames a project.",
  "POST /v1/organization/projects/{project}/archive": "Archives a project and stops its keys.",
  "POST /v1/organization/projects/{project}/service_accounts":
    "Creates a service account with its first key, shown once.",
  "GET /v1/organization/projects/{project}/service_accounts": "Lists the service accounts of a project.",
  "GET /v1/organization/projects/{project}/service_accounts/{account}": "Retrieves a service account.",
  "POST /v1/organization/projects/{project}/service_accounts/{account}": "Updates a service account.",
  "DELETE /v1/organization/projects/{project}/service_accounts/{account}": "Deletes a service account and its keys.",
  "POST /v1/organization/projects/{project}/service_accounts/{account}/api_keys":
    "Creates a key; takes `name` and `expires_in_seconds`. The key is shown once.",
  "GET /v1/organization/projects/{project}/service_accounts/{account}/api_keys":
    "Lists the keys of a service account. Not in OpenAI's API.",
  "GET /v1/organization/projects/{project}/api_keys": "Lists the keys of a project.",
  "GET /v1/organization/projects/{project}/api_keys/{key}": "Retrieves a key.",
  "POST /v1/organization/projects/{project}/api_keys/{key}": "Sets when a key expires; takes `expires_in_seconds`.",
  "DELETE /v1/organization/projects/{project}/api_keys/{key}": "Revokes a key.",
  "GET /v1/organization/projects/{project}/api_keys/{key}/spend_limit":
    "Retrieves a key's monthly spend limit. Not in OpenAI's API.",
  "POST /v1/organization/projects/{project}/api_keys/{key}/spend_limit":
    "Sets a key's monthly spend limit. Not in OpenAI's API.",
  "DELETE /v1/organization/projects/{project}/api_keys/{key}/spend_limit":
    "Removes a key's spend limit. Not in OpenAI's API.",
  "GET /v1/organization/projects/{project}/rate_limits": "Lists the rate limits of a project, one per model.",
  "POST /v1/organization/projects/{project}/rate_limits/{limit}": "Sets the rate limits of a project for one model.",
  "GET /v1/organization/projects/{project}/spend_limit": "Retrieves a project's monthly spend limit.",
  "POST /v1/organization/projects/{project}/spend_limit": "Sets a project's monthly spend limit.",
  "DELETE /v1/organization/projects/{project}/spend_limit": "Removes a project's spend limit.",
  "GET /v1/organization/spend_limit": "Retrieves the organization's monthly spend limit.",
  "POST /v1/organization/spend_limit": "Sets the organization's monthly spend limit.",
  "DELETE /v1/organization/spend_limit": "Removes the organization's spend limit.",
  "GET /v1/organization/projects/{project}/model_permissions": "Retrieves which models a project may use.",
  "POST /v1/organization/projects/{project}/model_permissions": "Sets which models a project may use.",
  "DELETE /v1/organization/projects/{project}/model_permissions": "Removes a project's model permissions.",
  "GET /v1/organization/model_permissions": "Retrieves which models the organization may use. Not in OpenAI's API.",
  "POST /v1/organization/model_permissions": "Sets which models the organization may use. Not in OpenAI's API.",
  "DELETE /v1/organization/model_permissions": "Removes the organization's model permissions. Not in OpenAI's API.",
  "GET /v1/organization/projects/{project}/moderation_policy":
    "Retrieves how the chats of a project are moderated. Not in OpenAI's API.",
  "POST /v1/organization/projects/{project}/moderation_policy":
    "Sets how the chats of a project are moderated. Not in OpenAI's API.",
  "DELETE /v1/organization/projects/{project}/moderation_policy":
    "Removes a project's moderation policy. Not in OpenAI's API.",
  "POST /v1/organization/admin_api_keys": "Creates an admin key, shown once.",
  "GET /v1/organization/admin_api_keys": "Lists the admin keys.",
  "GET /v1/organization/admin_api_keys/{key}": "Retrieves an admin key.",
  "DELETE /v1/organization/admin_api_keys/{key}": "Revokes an admin key.",
  "GET /v1/organization/audit_logs": "Lists audit events, newest first.",
  "GET /v1/organization/usage/completions": "Usage of chat completions by time bucket.",
  "GET /v1/organization/usage/moderations": "Usage of moderations by time bucket.",
  "GET /v1/organization/usage/audio_speeches": "Usage of speech by time bucket.",
  "GET /v1/organization/usage/audio_transcriptions": "Usage of transcriptions by time bucket.",
  "GET /v1/organization/costs": "Costs by day.",
};
