import { Badge, Card, Group, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatPrice } from "../../components/format.ts";
import { QueryView } from "../../components/query-view.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { IconChevronDown, IconChevronRight, IconSearch, IconTool } from "../../icons.tsx";
import { type McpServer, type McpTool, toolsQuery } from "./mcp-api.ts";
import { TryTool } from "./try-tool.tsx";

/** Tools from which a list can be filtered. */
const MANY = 8;

interface ToolListProps {
  server: McpServer;
  isManager: boolean;
}

/** Tools of a server with their input; each can be tried. */
export function ToolList({ server, isManager }: ToolListProps) {
  const { project } = useSession();
  // The account is that of the person or project.
  const query = useQuery(toolsQuery(server.id, isManager && !(server.oauth && project !== null)));
  return <QueryView query={query}>{(tools) => <Tools server={server} tools={tools} />}</QueryView>;
}

function Tools({ server, tools }: { server: McpServer; tools: readonly McpTool[] }) {
  const [filter, setFilter] = useState("");
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = tools.filter(({ id, title, description }) => {
    const text = `${id} ${title} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  if (tools.length === 0) {
    const needsAccount = server.status === "needs_account";
    return (
      <Card>
        <Empty icon={<IconTool />} title={needsAccount ? t("Connect an account first") : t("No tools")}>
          {needsAccount
            ? t("The server lists its tools once you have signed in to it.")
            : t("The server lists none that may be used here.")}
        </Empty>
      </Card>
    );
  }
  return (
    <Card padding={0}>
      {tools.length > MANY && (
        <TextInput
          m="sm"
          leftSection={<IconSearch size={15} />}
          aria-label={t("Filter the tools")}
          placeholder={plural(tools.length, "Filter {{count}} tool", "Filter {{count}} tools")}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {shown.length === 0 && (
        <Text size="sm" c="dimmed" p="md">
          {t("No tool has these words.")}
        </Text>
      )}
      <ul className="mcp-tools" aria-label={t("Tools")}>
        {shown.map((tool) => (
          <ToolRow key={tool.id} server={server.id} tool={tool} />
        ))}
      </ul>
    </Card>
  );
}

function ToolRow({ server, tool }: { server: string; tool: McpTool }) {
  const [isOpen, setIsOpen] = useState(false);
  const { id, title, description, read_only: isReadOnly, destructive, price_usd: price } = tool;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <li className="mcp-tool">
      <UnstyledButton className="mcp-tool-head" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <Chevron size={15} />
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={600} className="mono wrap-anywhere">
            {id}
          </Text>
          {!isOpen && <div className="mcp-tool-summary">{title ?? description}</div>}
        </div>
        <Group gap={6} className="mcp-tool-facts">
          {isReadOnly && <Fact text={t("Reads only")} />}
          {destructive && <Fact text={t("May delete")} />}
          {price !== null && <Fact text={formatPrice(price)} />}
        </Group>
      </UnstyledButton>
      {isOpen && (
        <div className="mcp-tool-details">
          {title !== null && (
            <Text size="sm" fw={600}>
              {title}
            </Text>
          )}
          {description !== null && (
            <Text size="sm" mb="md" className="wrap-anywhere" style={{ whiteSpace: "pre-wrap" }}>
              {description}
            </Text>
          )}
          <TryTool server={server} tool={tool} />
        </div>
      )}
    </li>
  );
}

function Fact({ text }: { text: string }) {
  return (
    <Badge variant="light" color="gray" tt="none" c="var(--mantine-color-text)">
      {text}
    </Badge>
  );
}
