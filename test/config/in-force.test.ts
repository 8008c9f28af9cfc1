import { describe, expect, it } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { fileWith } from './checking.ts'

const CONFIG = [
  'context_limit: 120000',
  'milestones: { warning: 0.4, critical: null, restart: 0.8 }',
  'restart: { policy: auto }',
  'session: { max_handoffs_per_job: 7 }',
].join('\n')

const begun = async (options: Parameters<typeof createBatonpass>[0]) => {
  const batonpass = await createBatonpass({ store: 'memory', ...options })
  const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
  const agent = { agentName: 'claude-code', backend: 'scripted' }
  const { session } = unwrap(await batonpass.handoffs.startSession({ conversationId: conversation.id, ...agent }))
  const { monitor } = unwrap(await batonpass.context.status(session.id))
  return {
    conversation: unwrap(await batonpass.handoffs.openConversation({ originalTask: 'x' })).conversation,
    monitor,
  }
}

describe('a configuration in force', () => {
  it('decides how windows are watched and how often work is restarted', async () => {
    const { monitor, conversation } = await begun({ config: fileWith(CONFIG) })
    expect(monitor).toMatchObject({ isEnabled: true, policy: 'auto', window: { configuredLimit: 120_000 } })
    expect(monitor.milestones).toEqual([
      { name: 'warning', at: 0.4 },
      { name: 'restart', at: 0.8 },
    ])
    expect(conversation.restartBudget.maxRestarts).toBe(7)
  })

  it('gives way to what is said in code', async () => {
    const config = { context_monitor: { enabled: false }, restart: { policy: 'auto' } }
    const { monitor } = await begun({ config, monitor: { policy: 'manual' } })
    expect(monitor).toMatchObject({ isEnabled: true, policy: 'manual' })
  })

  it('stops a start that it would mislead', async () => {
    await expect(createBatonpass({ store: 'memory', config: { context_limt: 5 } })).rejects.toThrow('context_limit')
  })
})
