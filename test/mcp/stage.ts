import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { Access } from '../../src/adapters/mcp/access.ts'
import { agentServer } from '../../src/adapters/mcp/agent-server.ts'
import type { HandoffReceiver, HandoffSent } from '../../src/adapters/mcp/handoff-tool.ts'
import type { SessionClues } from '../../src/adapters/mcp/session-clues.ts'
import { ok } from '../../src/domain/kernel/result.ts'
import type { WorkingSession } from '../../src/domain/session/agent-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { type Batonpass, createBatonpass } from '../../src/main/batonpass.ts'
import { TERMINAL_AGENTS } from '../../src/main/runtimes.ts'

/** How a stage differs from the usual one. */
export interface StageSettings {
  readonly clues?: Partial<SessionClues>
  readonly isAllAllowed?: boolean
  readonly receiver?: Partial<HandoffReceiver>
}

/** The result of a tool, as far as a test looks at it. */
export interface Told {
  readonly isError: boolean
  readonly text: string
  readonly facts: Record<string, unknown> | undefined
}

/** The folder that the agent of the stage works in. */
export const HERE = '/home/somebody/project'

/** A server over a store in memory, and the real client that asks it. */
export class Stage {
  readonly batonpass: Batonpass
  readonly client: Client
  readonly sent: { readonly session: string; readonly handoff: HandoffSent }[] = []
  readonly kept: { readonly session: string; readonly handoff: HandoffSent }[] = []
  /** How often the record was opened. */
  opened = 0
  isShared = true

  private constructor(batonpass: Batonpass, client: Client) {
    this.batonpass = batonpass
    this.client = client
  }

  static async open({ clues = {}, isAllAllowed = false, receiver = {} }: StageSettings = {}): Promise<Stage> {
    const batonpass = await createBatonpass({ store: 'memory' })
    const client = new Client({ name: 'test', version: '1' })
    const stage = new Stage(batonpass, client)
    const open = async (): Promise<Batonpass> => {
      stage.opened += 1
      return batonpass
    }
    const usual = { agents: TERMINAL_AGENTS, ofProcess: () => undefined, environment: {}, workingFolder: HERE }
    const access = new Access({ open, isShared: () => stage.isShared, clues: { ...usual, ...clues }, isAllAllowed })
    const send: HandoffReceiver['send'] = async (session, handoff) => {
      stage.sent.push({ session, handoff })
      return ok({ status: 'pending', path: '/home/somebody/.batonpass/pending/one.md' })
    }
    const keep: HandoffReceiver['keep'] = async (session, handoff) => {
      stage.kept.push({ session, handoff })
      return { status: 'kept', path: '/home/somebody/.batonpass/handoffs/one.md' }
    }
    const server = agentServer({ access, receiver: { wake: async () => true, send, keep, ...receiver }, version: '1' })
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await server.connect(ours)
    await client.connect(theirs)
    onTestFinished(async () => {
      await client.close()
      await batonpass.close()
    })
    return stage
  }

  /** A session as a start hook registers it. */
  async session(providerSessionId: string, workingDirectory = HERE): Promise<WorkingSession> {
    const { handoffs } = this.batonpass
    const opened = await handoffs.openConversation({
      originalTask: 'Terminal session',
      externalKey: `claude:${providerSessionId}`,
      workspace: { workingDirectory },
    })
    const conversationId = unwrap(opened).conversation.id
    const agent = { agentName: 'claude-code', backend: 'claude_code' }
    return unwrap(await handoffs.startSession({ conversationId, ...agent, providerSessionId }))
  }

  /** A handoff to a fresh window, with its document, completed. */
  async handedOff(working: WorkingSession, document: string, providerSessionId: string) {
    const { handoffs } = this.batonpass
    const worked = unwrap(
      await handoffs.recordTurn({ ...working, messages: [{ role: 'user', text: 'Find the numbat' }] }),
    )
    const kind = 'context_restart' as const
    const asked = { ...worked, holder: working.holder, kind, targetAgent: 'claude-code', reason: 'The window is full' }
    const { handoff } = unwrap(await handoffs.initiateHandoff({ ...asked, document }))
    const completed = unwrap(await handoffs.completeHandoff({ handoff, providerSessionId }))
    return { handoff, next: completed }
  }

  async call(name: string, input: Record<string, unknown> = {}, meta: Record<string, unknown> = {}): Promise<Told> {
    const result = await this.client.callTool({ name, arguments: input, _meta: meta })
    const [content] = result.content as readonly { readonly text?: string }[]
    const facts = result.structuredContent as Record<string, unknown> | undefined
    return { isError: result.isError === true, text: content?.text ?? '', facts }
  }
}
