import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { Access } from '../../src/adapters/mcp/access.ts'
import { agentServer } from '../../src/adapters/mcp/agent-server.ts'
import { TERMINAL_AGENTS } from '../../src/main/runtimes.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { silentLogger } from '../../src/ports/system/logger.ts'
import type { HandoffService } from '../../src/services/handoff-service.ts'
import { HandoffHistory } from '../../src/services/history/handoff-history.ts'
import { LookBack } from '../../src/services/history/look-back-service.ts'

/** The answer of a tool, as the agent reads it. */
export interface Told {
  readonly isError: boolean
  readonly text: string
}

/** Asks one tool as the agent of a session does, with the real client. Whatever is answered was read from this store. */
export const askTool = async (
  { store, handoffs, session }: { readonly store: Store; readonly handoffs: HandoffService; readonly session: string },
  name: string,
  input: Record<string, unknown> = {},
): Promise<Told> => {
  const services = {
    history: new HandoffHistory({ store }),
    lookBack: new LookBack({ store, handoffs, logger: silentLogger }),
  }
  const clues = { ofProcess: () => session, environment: {}, agents: TERMINAL_AGENTS, workingFolder: '/nowhere' }
  const access = new Access({ open: async () => services, isShared: () => true, clues, isAllAllowed: false })
  const receiver = {
    wake: async () => false,
    send: () => Promise.reject(new Error('nobody hands off here')),
    keep: async () => ({ status: 'kept' }),
  }
  const server = agentServer({ access, receiver, version: '1' })
  const client = new Client({ name: 'agent', version: '1' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await server.connect(ours)
  await client.connect(theirs)
  const { isError, content } = await client.callTool({ name, arguments: input })
  await client.close()
  const [first] = content as readonly { readonly text?: string }[]
  return { isError: isError === true, text: first?.text ?? '' }
}
