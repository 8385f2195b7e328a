"""A server of the official Python SDK over streamable HTTP, whose port the first argument is."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("python")


@server.tool()
def word_count(text: str) -> int:
    """Counts the words of a text."""
    return len(text.split())


@server.tool()
def refuse() -> str:
    """Fails."""
    raise ValueError("no such page")


server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
