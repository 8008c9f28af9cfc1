import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentSdkRuntime, claudeCommandRuntime } from '../../src/entry/claude.ts'
import type { AgentRuntime } from '../../src/entry/index.ts'

const SECRETS = [
  'BATONPASS_DATABASE_URL',
  'BATONPASS_DATABASE_URL_FILE',
  'BATONPASS_DATA_DIR',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSERVICEFILE',
  'PGSSLKEY',
]

beforeEach(() => {
  for (const name of SECRETS) vi.stubEnv(name, 'the secret of the store')
  vi.stubEnv('ANTHROPIC_BASE_URL', 'https://kept.example')
  vi.stubEnv('DATABASE_URL', 'postgres://of-the-project')
})
afterEach(() => void vi.unstubAllEnvs())

const signal = new AbortController().signal

const drained = async ({ start }: AgentRuntime, prompt = 'Go'): Promise<readonly unknown[]> => {
  const messages: unknown[] = []
  for await (const { message } of start({ prompt, signal }).steps) messages.push(message)
  return messages
}

/** Says which variables it sees, as a result of Claude Code. */
const TELLS = `console.log(JSON.stringify({ type: 'result', subtype: 'success', session_id: 's', result: Object.keys(process.env).join(' ') }))`
const seenBy = async (more: Parameters<typeof claudeCommandRuntime>[0] = {}): Promise<readonly string[]> => {
  const runtime = claudeCommandRuntime({ command: process.execPath, args: ['-e', TELLS, '--'], ...more })
  const [message] = (await drained(runtime)) as readonly { readonly result: string }[]
  return message?.result.split(' ') ?? []
}

/** The environments that launches and questions of the SDK are given. */
const givenToSdk = async (options?: Readonly<Record<string, unknown>>) => {
  const environments: Readonly<Record<string, string | undefined>>[] = []
  const query = ({ options: given }: { options?: { env?: object } }) => {
    environments.push({ ...(given?.env as object) })
    const said = (async function* () {
      yield { type: 'result', subtype: 'success', result: 'Done.', session_id: 's' }
    })()
    return Object.assign(said, { interrupt: async () => {}, close: () => {} })
  }
  const runtime = agentSdkRuntime({ sdk: { query } as never, ...(options && { options }) })
  await drained(runtime)
  // What it is given is looked at; that it says nothing is not.
  await runtime.ask?.({ prompt: 'And now?', providerSessionId: 's', signal }).catch(() => undefined)
  return environments
}

describe('an agent that we start', () => {
  it('as the claude command finds our environment without them', async () => {
    const seen = await seenBy()
    expect(seen).toContain('ANTHROPIC_BASE_URL')
    expect(seen).toContain('DATABASE_URL')
    expect(seen.filter((name) => SECRETS.includes(name))).toEqual([])
  })

  it('through the SDK finds our environment without them, for launches and for questions', async () => {
    const environments = await givenToSdk()
    expect(environments).toHaveLength(2)
    for (const environment of environments) {
      expect(environment.ANTHROPIC_BASE_URL).toBe('https://kept.example')
      expect(environment.DATABASE_URL).toBe('postgres://of-the-project')
      expect(Object.keys(environment).filter((name) => SECRETS.includes(name))).toEqual([])
    }
  })

  it('finds them where the caller gives them', async () => {
    const env = { PATH: process.env.PATH, PGPASSWORD: 'of-the-project' }
    expect(await seenBy({ env })).toContain('PGPASSWORD')
    for (const environment of await givenToSdk({ env })) expect(environment.PGPASSWORD).toBe(env.PGPASSWORD)
  })
})
