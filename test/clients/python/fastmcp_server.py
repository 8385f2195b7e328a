"""A server of FastMCP over standard input and output."""

from fastmcp import FastMCP

server = FastMCP("fast")


@server.tool
def shout(text: str) -> str:
    """Writes a text in capital letters."""
    return text.upper()


server.run(show_banner=False)
