/** Common parts of the models behind an upstream's API. */

import type { Dispatcher } from "undici";
import type { CallerHeaders, ModelFeature, ModelHealth } from "../../contracts/open-model.ts";
import type { Fault } from "../../kernel/faults.ts";
import { byteLength } from "../../kernel/json/chunks.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Authorize } from "./authorize.ts";
import type { Connections } from "./connection/connections.ts";
import { Exchange } from "./connection/exchange.ts";
import { forwardedHeaders } from "./connection/forwarded-headers.ts";
import { createRedactor } from "./connection/redact.ts";
import type { UpstreamSettings } from "./connection-settings.ts";
import { listUpstreamModels } from "./list-upstream-models.ts";
import { viaHeader } from "./loop-detection.ts";
import { MissingFeatureError, MissingFeatures, missingFeatureFault } from "./missing-features.ts";
import { probeUpstream } from "./probe-upstream.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamError } from "./upstream-error.ts";
import { brokenFault, closedFault, type FaultContext } from "./upstream-fault.ts";
import { UpstreamLoad } from "./upstream-load.ts";
import { requestTemplate, toUpstreamModel, type UpstreamBody } from "./upstream-request.ts";

export interface UpstreamModelOptions<Settings = UpstreamSettings> {
  /** The deployment's. */
  name: string;
  catalogId: string;
  settings: Settings;
  connections: Connections;
  logger: Logger;
  /** Left out: the settings contain the credentials. */
  authorize?: Authorize | undefined;
  /** Whether a stream with several choices reports usage per choice, rather than for all. */
  usagePerChoice?: boolean;
}

interface Sent {
  body: NonNullable<Dispatcher.DispatchOptions["body"]> | UpstreamBody;
  /** Override the headers of every request; undefined removes one. */
  headers?: Readonly<Record<string, string | undefined>>;
  /**
   * Headers of the caller, of which the operator's selection is forwarded; headers that the operator set take
   * precedence.
   */
  callerHeaders: CallerHeaders | undefined;
}

const MAX_TEMPLATES = 100;
const MAX_LOGGED_LENGTH = 300;

export abstract class UpstreamModel<Settings extends UpstreamSettings = OpenAiCompatibleSettings> {
  readonly device = "upstream";
  readonly slots: number | undefined;
  readonly loadReport: UpstreamLoad | undefined;
  readonly #options: UpstreamModelOptions<Settings>;
  readonly #redact: FaultContext["redact"];
  /** Request templates by path, built once. */
  readonly #templates = new Map<string, Omit<Dispatcher.DispatchOptions, "body">>();
  readonly #missing = new MissingFeatures();
  #isClosed = false;

  constructor(options: UpstreamModelOptions<Settings>) {
    const { settings, connections, logger } = options;
    this.slots = settings.maxConcurrency;
    if (settings.metricsPath !== undefined) {
      this.loadReport = new UpstreamLoad(settings.metricsPath, connections, settings, logger);
    }
    this.#options = options;
    this.#redact = createRedactor(options.settings);
  }

  protected get settings(): Settings {
    return this.#options.settings;
  }

  protected get usagePerChoice(): boolean {
    return this.#options.usagePerChoice === true;
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  listModels(signal: AbortSignal): Promise<readonly string[]> {
    return listUpstreamModels(this.#options.connections, this.#options.settings, signal);
  }

  async probe(signal: AbortSignal): Promise<boolean | undefined> {
    const { connections, settings } = this.#options;
    return settings.probe ? probeUpstream(connections, settings, signal) : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#options.connections.close();
  }

  /** `asked` is the requested catalog ID. */
  protected contextOf(model: string = this.#options.catalogId, operation?: string): FaultContext {
    const { name } = this.#options;
    return {
      deployment: name,
      model,
      upstreamModel: this.#upstreamModel(model),
      redact: this.#redact,
      operation,
    };
  }

  missing(feature: ModelFeature, id: string): Fault | undefined {
    const isMissing = this.#missing.has(feature, this.#upstreamModel(id));
    return isMissing ? missingFeatureFault(this.#options.name, feature) : undefined;
  }

  #upstreamModel(id: string): string {
    const { catalogId, settings } = this.#options;
    return toUpstreamModel(settings.model, catalogId, id);
  }

  /** Returns the headers of credentials that change; undefined where the settings contain them. Throws a Fault. */
  protected credentials(
    operation: string,
    body: string,
    signal: AbortSignal,
  ): Promise<Record<string, string>> | undefined {
    const { authorize } = this.#options;
    if (authorize === undefined) return undefined;
    const { origin, path } = this.#template(operation);
    return authorize({ url: `${String(origin)}${path}`, body }, signal);
  }

  protected get hasChangingCredentials(): boolean {
    return this.#options.authorize !== undefined;
  }

  /** Throws a Fault once the model is closed, and for a request that loops back. The caller releases the exchange, also after a failure. */
  protected send(operation: string, { body, headers, callerHeaders }: Sent, signal: AbortSignal): Exchange {
    const { name, connections, settings } = this.#options;
    if (this.#isClosed) throw closedFault(name);
    const template = this.#template(operation);
    const forwarded = forwardedHeaders(settings.forwardRules, callerHeaders);
    const via = viaHeader(callerHeaders, name);
    const all: Record<string, string | undefined> = { ...forwarded, via, ...(template.headers as object), ...headers };
    for (const name in headers) if (headers[name] === undefined) delete all[name];
    // undici writes the chunks of an iterable one after the other.
    if (Array.isArray(body)) all["content-length"] = String(byteLength(body));
    const request = {
      ...template,
      body: body as Dispatcher.DispatchOptions["body"],
      headers: all as Record<string, string>,
    };
    return new Exchange(connections, request, settings, signal);
  }

  /**
   * Remembers a feature that the upstream lacks. Logs other Faults, unless the request itself caused them: such a Fault
   * is for its caller only.
   */
  protected toFault(error: unknown, context: FaultContext): Fault {
    const fault = brokenFault(error, context);
    const { kind, message, cause } = fault;
    if (cause instanceof MissingFeatureError) {
      this.#missing.add(cause.feature, context.upstreamModel);
      this.#options.logger.warn({ feature: cause.feature }, message);
    } else if (kind.startsWith("upstream-") || kind === "answer-unfit" || fault.code === "server_is_overloaded") {
      const upstreamMessage = cause instanceof UpstreamError ? cause.details.message : undefined;
      const reason = upstreamMessage ?? (cause instanceof Error ? cause.message : undefined);
      this.#options.logger.warn({ reason: reason && this.#redact(reason).slice(0, MAX_LOGGED_LENGTH) }, message);
    }
    return fault;
  }

  #template(operation: string): Omit<Dispatcher.DispatchOptions, "body"> {
    const cachedTemplate = this.#templates.get(operation);
    if (cachedTemplate !== undefined) return cachedTemplate;
    const template = requestTemplate(this.#options.settings, operation);
    // Paths that name a wildcard's models are unbounded.
    if (this.#templates.size >= MAX_TEMPLATES) this.#templates.clear();
    this.#templates.set(operation, template);
    return template;
  }
}
