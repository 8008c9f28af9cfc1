import type { RunTools } from '../../ports/agent/run-tools.ts'
import type { Logger } from '../../ports/system/logger.ts'

/** Serves the tools of runs over MCP, on the loopback. The server and its packages are loaded with the first of them. */
export const mcpRunTools = (logger?: Logger): RunTools => ({
  open: async () => {
    const { serveTools } = await import('./served-tools.ts')
    return serveTools(logger)
  },
})
