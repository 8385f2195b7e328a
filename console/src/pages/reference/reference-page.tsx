// Not part of the first load.
import { Trans } from "../../i18n/trans.tsx";
import { t } from "../../i18n/translate.ts";
import "@fontsource-variable/geist-mono/wght.css";
import { Anchor, Badge, Card, Code, Group, Stack, Text, TextInput, Title, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { urlOf } from "../../api/request.ts";
import { Empty } from "../../components/empty.tsx";
import { InlineCode } from "../../components/inline-code.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { IconBook, IconChevronDown, IconChevronRight } from "../../icons.tsx";
import { type OpenApi, openApiQuery, type Route, routesOf } from "./openapi.ts";
import { RouteDetails } from "./route-details.tsx";

export function ReferencePage() {
  const query = useQuery(openApiQuery);
  return (
    <Page
      title={t("API reference")}
      description={
        <Trans
          text="Every route, from <file>openapi.json</file>, which is made from the schemas that check requests."
          tags={{ file: <Anchor href={urlOf("openapi.json")} underline="always" inherit /> }}
        />
      }
    >
      <QueryView query={query}>{(document) => <Content document={document} />}</QueryView>
    </Page>
  );
}

function Content({ document }: { document: OpenApi }) {
  const [{ search, route: opened }, setAddress] = useAddressState({ search: "", route: "" });
  const query = search.trim().toLowerCase();
  const routes = routesOf(document).filter(({ method, path, summary }) =>
    `${method} ${path} ${summary}`.toLowerCase().includes(query),
  );
  return (
    <>
      <TextInput
        aria-label={t("Search routes")}
        placeholder={t("Search routes")}
        maw={360}
        value={search}
        onChange={(event) => setAddress({ search: event.currentTarget.value }, { replace: true })}
      />
      {routes.length === 0 && <Empty icon={<IconBook />} title={t("No route matches")} />}
      {document.tags.map(({ name, description }) => {
        const tagRoutes = routes.filter(({ tags }) => tags.includes(name));
        if (tagRoutes.length === 0) return null;
        return (
          <Card key={name} padding={0}>
            <Stack gap={0} p="md" pb="xs">
              <Title order={2}>{name}</Title>
              <Text size="sm" c="dimmed">
                {description}
              </Text>
            </Stack>
            {tagRoutes.map((route) => (
              <RouteRow
                key={route.operationId}
                route={route}
                document={document}
                isOpen={opened === route.operationId}
                onToggle={() =>
                  setAddress({ route: opened === route.operationId ? "" : route.operationId }, { replace: true })
                }
              />
            ))}
          </Card>
        );
      })}
    </>
  );
}

const COLORS: Readonly<Record<string, string>> = { GET: "teal", POST: "pine", DELETE: "red" };

interface RouteRowProps {
  route: Route;
  document: OpenApi;
  isOpen: boolean;
  onToggle: () => void;
}

function RouteRow({ route, document, isOpen, onToggle }: RouteRowProps) {
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <div className="route">
      <UnstyledButton onClick={onToggle} aria-expanded={isOpen} w="100%" px="md" py={10}>
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <Chevron size={15} style={{ flexShrink: 0, marginTop: 4 }} />
          <Badge w={84} style={{ flexShrink: 0 }} radius="sm" variant="dot" color={COLORS[route.method] ?? "gray"}>
            {route.method}
          </Badge>
          <div style={{ minWidth: 0 }}>
            <Code className="wrap-anywhere" bg="transparent" p={0} fz="sm">
              {route.path}
            </Code>
            <Text size="sm" c="dimmed">
              <InlineCode text={withoutLinks(route.summary)} />
            </Text>
          </div>
        </Group>
      </UnstyledButton>
      {isOpen && <RouteDetails route={route} document={document} />}
    </div>
  );
}

/** Summaries are Markdown, with links that lead to the documentation site. */
function withoutLinks(summary: string): string {
  return summary.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1");
}
