/** What a bundle with MCP servers takes besides Treadle. */
export const MCP_CLIENT = { purpose: 'MCP servers', needs: ['@modelcontextprotocol/client'] };
