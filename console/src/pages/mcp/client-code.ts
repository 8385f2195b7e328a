// untranslated file: code and names of programs
import { urlOf } from "../../api/request.ts";
import type { CodeTab } from "../../components/code-tabs.tsx";
import { shellQuote } from "../../components/code-text.ts";

const json = (value: unknown) => JSON.stringify(value, undefined, 2);

/** What connects MCP clients; `server`: to the tools of one server, by their plain names. */
export function clientCode(server?: string): CodeTab[] {
  const name = server === undefined ? "parlance" : `parlance-${server}`;
  const url = urlOf(server === undefined ? "mcp" : `mcp/${encodeURIComponent(server)}`);
  const headers = (key: string) => ({ Authorization: `Bearer ${key}` });
  return [
    {
      id: "claude-code",
      name: "Claude Code",
      code: `claude mcp add --transport http ${name} ${shellQuote(url)} \\\n  --header "Authorization: Bearer $OPENAI_API_KEY"`,
    },
    {
      id: "cursor",
      name: "Cursor",
      file: ".cursor/mcp.json",
      code: json({ mcpServers: { [name]: { url, headers: headers(`\${env:OPENAI_API_KEY}`) } } }),
    },
    {
      id: "vscode",
      name: "VS Code",
      file: ".vscode/mcp.json",
      code: json({
        inputs: [{ type: "promptString", id: "parlance-key", description: "API key of Parlance", password: true }],
        servers: { [name]: { type: "http", url, headers: headers(`\${input:parlance-key}`) } },
      }),
    },
    {
      id: "inspector",
      name: "Inspector",
      code: `npx @modelcontextprotocol/inspector --cli ${shellQuote(url)} --transport http \\\n  --method tools/list --header "Authorization: Bearer $OPENAI_API_KEY"`,
    },
  ];
}

/** Example of servers in the configuration. */
export const EXAMPLE = `mcp_servers:
  - name: wiki
    url: https://mcp.example.com/mcp
    headers: { authorization: "Bearer \${WIKI_TOKEN}" }
    access:
      - projects: [proj_123]
        tools: [search, read]
  - name: files
    command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/docs]
`;
