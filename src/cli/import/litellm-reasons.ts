/** Why settings of LiteLLM's config.yaml are not carried over, and what to use instead. */

/** What became of settings, by name; "": carried over, or without an effect here. */
export const REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...["drop_params", "telemetry", "set_verbose", "json_logs", "request_timeout", "num_retries", "allowed_fails"],
      ...[
        "cooldown_time",
        "fallbacks",
        "default_fallbacks",
        "context_window_fallbacks",
        "model_group_alias",
        "routing_strategy",
      ],
      ...["database_connection_pool_limit", "proxy_batch_write_at", "store_model_in_db", "enable_pre_call_checks"],
      ...["proxy_budget_rescheduler_min_time", "proxy_budget_rescheduler_max_time"],
    ].map((name) => [name, ""]),
  ),
  master_key: "is a secret. Set PARLANCE_ADMIN_KEY, with at least 32 characters.",
  database_url: "is another database. Set DATABASE_URL; usage is not carried over.",
  redis_host: "belongs to the environment. Set REDIS_URL.",
  redis_port: "belongs to the environment. Set REDIS_URL.",
  redis_password: "is a secret. Set REDIS_URL.",
  max_budget: "is a limit of the database. Use: parlance budgets create",
  budget_duration: "is the period of a budget here: day, week, month or total. Use: parlance budgets create",
  content_policy_fallbacks: "are not distinguished: fallbacks answer when no deployment can.",
  success_callback: "sends traces elsewhere. Use opentelemetry, which Langfuse and Phoenix accept.",
  failure_callback: "sends traces elsewhere. Use opentelemetry, which Langfuse and Phoenix accept.",
  callbacks: "are code or services of LiteLLM. Use opentelemetry or webhooks.",
  default_team_settings: "belong to teams, which are projects here; traces are those of the whole service.",
  cache: "is set by model here. Use cache of a model.",
  cache_params: "are set by model here. Use cache of a model.",
  custom_auth: "is code of LiteLLM. Use keys, or sign_on with tokens of an issuer.",
  alerting: "goes through webhooks here.",
  pass_through_endpoints: "forward to other APIs; only models are served here.",
};

/** The same for parameters of an entry of the model list. */
export const PARAM_REASONS: Readonly<Record<string, string>> = {
  tags: "selects deployments by tag in LiteLLM. Name a model for each tag.",
  order: "is the order of the file here. Use strategy: ordered.",
  max_budget: "is a budget of one deployment, which is not counted here. Use: parlance budgets create",
  budget_duration: "is the period of a budget of one deployment, which is not counted here.",
};

export const SECTIONS: Readonly<Record<string, string>> = {
  environment_variables: "belong to the environment of the service.",
  guardrails: "have other types here. Use guardrails of the installation, a model or a project.",
  finetune_settings: "have no counterpart: models are not fine-tuned here.",
  files_settings: "have no counterpart: files are stored by this service.",
  mcp_servers: "are not converted. Name them in mcp_servers, with url or command.",
  search_tools: "are not converted. Use web_search.",
  vector_store_registry: "are not converted. Upload the files to /v1/vector_stores.",
};
