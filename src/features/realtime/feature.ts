import type { AuthenticateScope } from "../../http/authenticate.ts";
import type { BodyMemory } from "../../http/body-memory.ts";
import { DetachedRun, type DetachedRunOptions } from "../../http/detached-run.ts";
import type { Feature } from "../../http/feature.ts";
import type { EndedRequest } from "../../http/request-log.ts";
import { OpenSockets } from "../../http/sockets/open-sockets.ts";
import type { Inference } from "../../inference/inference.ts";
import { newOrderedId } from "../../kernel/id.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { ModelStore } from "../../model-store/model-store.ts";
import { voiceActivityFile } from "../../model-store/voice-activity-file.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { FileStorage } from "../files/index.ts";
import type { RecordedContents } from "../recorded-content/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import type { UsageStorage } from "../usage/index.ts";
import { withClientSecrets } from "./client-secret-authenticator.ts";
import { realtimeClientSecrets } from "./client-secret-routes.ts";
import { ClientSecrets } from "./client-secrets.ts";
import { realtimeMetrics } from "./metrics.ts";
import { realtime } from "./routes.ts";
import { realtimeSessions } from "./session-routes.ts";
import { SpeechDetection } from "./speech-detection.ts";

interface RealtimeParts {
  bodyMemory: BodyMemory;
  config: Settings;
  database: Database;
  lifetime: AsyncDisposableStack;
  inference: Inference;
  authenticate: AuthenticateScope;
  accounts: Accounts;
  store: ModelStore;
  metrics: Metrics;
  files: FileStorage;
  usage: UsageStorage;
  recorded: RecordedContents | undefined;
  tools: ServiceTools;
}

/** Sessions of the Realtime API. */
export function openRealtime(parts: RealtimeParts): Feature {
  const { config, lifetime, inference, authenticate, accounts, store, metrics, files, usage, recorded, tools } = parts;
  const secrets = new ClientSecrets(parts.database, accounts);
  const speechDetection = new SpeechDetection((signal) => voiceActivityFile(store, signal));
  lifetime.defer(() => speechDetection.close());
  const { transcriptionModel, speechModel, maxSessionsPerProject, ...limits } = config.realtime;
  const sessions = new OpenSockets({
    maxPerProject: maxSessionsPerProject,
    plural: "Realtime sessions",
    setting: "realtime.max_sessions_per_project",
    code: "too_many_sessions",
  });
  realtimeMetrics(metrics.registry, () => sessions.size);
  const detectSpeech = (signal: AbortSignal) => speechDetection.open(signal);
  const record = (ended: EndedRequest) => {
    usage.history.record(ended.entry);
    if (ended.recording !== undefined) recorded?.writer.record(ended);
  };
  const beginRun = (request: Pick<DetachedRunOptions, "caller" | "model">) =>
    new DetachedRun({ ...request, id: newOrderedId("req_"), operation: "realtime", record });
  const { maxToolCalls } = config.responses;
  const services = {
    ...{ inference, content: files.resolver, memory: parts.bodyMemory, tools, maxToolCalls, beginRun },
    ...{ detectSpeech, transcriptionModel, speechModel },
  };
  return {
    project: [realtimeClientSecrets(secrets, services), realtimeSessions(secrets, services)],
    sockets: [
      async (scope) => {
        authenticate(scope, "project", withClientSecrets(accounts, secrets));
        scope.register(realtime({ ...limits, accounts, secrets, services, sessions }));
      },
    ],
    drain: () => sessions.drain(),
  };
}
