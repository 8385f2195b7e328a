import {
  type AsyncRouteComponent,
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from "@tanstack/react-router";
import { queryClient } from "./api/query-client.ts";
import { sessionQuery } from "./api/session.ts";
import { PageError } from "./components/page-error.tsx";
import { PageLoading } from "./components/page-loading.tsx";
import { useLanguage } from "./i18n/change-language.ts";
import { t } from "./i18n/translate.ts";
import { Gate } from "./shell/gate.tsx";
import { SignInRoute } from "./shell/sign-in-route.tsx";

const root = createRootRoute({ component: Gate, errorComponent: PageError });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: SignInRoute,
  validateSearch: (search: Record<string, unknown>): { code?: string } =>
    typeof search.code === "string" ? { code: search.code } : {},
});

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    const session = await queryClient.ensureQueryData(sessionQuery);
    // Which page comes first depends on the key.
    if (!session.signed_in) return;
    throw redirect({ to: session.project === null ? "/overview" : "/chat", replace: true });
  },
});

const page = <Path extends string>(path: Path, load: () => Promise<Record<string, unknown>>, name: string) => {
  const Page: AsyncRouteComponent<object> = lazyRouteComponent(load as never, name as never);
  // biome-ignore lint/correctness/noComponentHookFactories: called once per route, while this module loads
  function TranslatedPage() {
    // The router draws a page again for another route only, not for another language.
    useLanguage();
    return <Page />;
  }
  const component = Object.assign(TranslatedPage, Page.preload && { preload: Page.preload });
  return createRoute({ getParentRoute: () => root, path, component });
};

const routeTree = root.addChildren([
  index,
  signIn,
  page("/chat", () => import("./pages/chat/chat-page.tsx"), "ChatPage"),
  page("/shared", () => import("./pages/chat/shared/shared-page.tsx"), "SharedPage"),
  page("/talk", () => import("./pages/talk/talk-page.tsx"), "TalkPage"),
  page("/speech", () => import("./pages/speech/speech-page.tsx"), "SpeechPage"),
  page("/images", () => import("./pages/images/images-page.tsx"), "ImagesPage"),
  page("/transcription", () => import("./pages/transcription/transcription-page.tsx"), "TranscriptionPage"),
  page("/moderation", () => import("./pages/moderation/moderation-page.tsx"), "ModerationPage"),
  page("/embeddings", () => import("./pages/embeddings/embeddings-page.tsx"), "EmbeddingsPage"),
  page("/stores", () => import("./pages/stores/stores-page.tsx"), "StoresPage"),
  page("/stores/$store", () => import("./pages/stores/store-page.tsx"), "StorePage"),
  page("/prompts", () => import("./pages/prompts/prompts-page.tsx"), "PromptsPage"),
  page("/prompts/$prompt", () => import("./pages/prompts/prompt-page.tsx"), "PromptPage"),
  page("/evals", () => import("./pages/evals/evals-page.tsx"), "EvalsPage"),
  page("/evals/$eval", () => import("./pages/evals/eval-page.tsx"), "EvalPage"),
  page("/mcp", () => import("./pages/mcp/mcp-page.tsx"), "McpPage"),
  page("/mcp/$server", () => import("./pages/mcp/mcp-server-page.tsx"), "McpServerPage"),
  page("/overview", () => import("./pages/overview/overview-page.tsx"), "OverviewPage"),
  page("/requests", () => import("./pages/requests/requests-page.tsx"), "RequestsPage"),
  page("/requests/$request", () => import("./pages/requests/request-page.tsx"), "RequestPage"),
  page("/usage", () => import("./pages/usage/usage-page.tsx"), "UsagePage"),
  page("/models", () => import("./pages/models/models-page.tsx"), "ModelsPage"),
  page("/batches", () => import("./pages/batches/batches-page.tsx"), "BatchesPage"),
  page("/files", () => import("./pages/files/files-page.tsx"), "FilesPage"),
  page("/skills", () => import("./pages/skills/skills-page.tsx"), "SkillsPage"),
  page("/webhooks", () => import("./pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
  page("/projects", () => import("./pages/projects/projects-page.tsx"), "ProjectsPage"),
  page("/projects/$project", () => import("./pages/projects/project-page.tsx"), "ProjectPage"),
  page(
    "/projects/$project/accounts/$account",
    () => import("./pages/projects/service-account-page.tsx"),
    "ServiceAccountPage",
  ),
  page("/organization", () => import("./pages/organization/organization-page.tsx"), "OrganizationPage"),
  page("/connections", () => import("./pages/connections/connections-page.tsx"), "ConnectionsPage"),
  page("/configuration", () => import("./pages/configuration/configuration-page.tsx"), "ConfigurationPage"),
  page("/reference", () => import("./pages/reference/reference-page.tsx"), "ReferencePage"),
  page("/account", () => import("./pages/account/account-page.tsx"), "AccountPage"),
  page("/my-usage", () => import("./pages/account/my-usage-page.tsx"), "MyUsagePage"),
  page("/budgets", () => import("./pages/budgets/budgets-page.tsx"), "BudgetsPage"),
  page("/people", () => import("./pages/people/people-page.tsx"), "PeoplePage"),
  page("/people/groups/$group", () => import("./pages/people/group-page.tsx"), "GroupPage"),
  page("/people/$user", () => import("./pages/people/person-page.tsx"), "PersonPage"),
  page("/invite", () => import("./pages/account/invite-page.tsx"), "InvitePage"),
  page("/password", () => import("./pages/account/password-page.tsx"), "PasswordPage"),
  page("/audit", () => import("./pages/audit/audit-page.tsx"), "AuditPage"),
]);

export const router = createRouter({
  routeTree,
  // Pages are fragments: every path of the origin stays the API's.
  history: createHashHistory(),
  // Every value is a text: JSON would put quotes around numbers.
  parseSearch: parseSearchWith((value) => value),
  stringifySearch: stringifySearchWith(String),
  defaultPreload: "intent",
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: () => <PageError error={new Error(t("This page does not exist."))} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
