import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { widthOf } from '../../src/adapters/cli/render/text.ts'
import { outputsOn } from '../../src/adapters/cli/terminal/outputs.ts'
import { firstLook } from '../../src/adapters/cli/tree/first-look.ts'
import { ROOT_HELP } from '../../src/adapters/cli/tree/root-help-text.ts'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { makeStore } from '../embedded/made-store.ts'
import { folder } from './spawned.ts'

const shelf = mkdtempSync(join(tmpdir(), 'batonpass-look-'))
afterAll(() => rmSync(shelf, { recursive: true, force: true, maxRetries: 10 }))

/** What a person sees who types `baton` on a terminal of this width. */
const look = async (environment: Readonly<Record<string, string>>, columns = 80) => {
  const written = { out: '', err: '' }
  const stream = (to: 'out' | 'err') => ({
    isTTY: true,
    columns,
    write: (text: string) => {
      written[to] += text
    },
  })
  const outputs = outputsOn(stream('out'), stream('err'), { NO_COLOR: '1' })
  const code = await firstLook({ ...outputs, version: '0.0.0', environment: { HOME: folder(), ...environment } })
  return { code, ...written }
}

const storeWithJobs = async (count: number): Promise<string> => {
  const dataDir = join(shelf, 'store')
  await makeStore(dataDir)
  await using batonpass = await createBatonpass({ dataDir })
  for (let number = 1; number <= count; number += 1) {
    const { handoffs } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: `Mend number ${number}` }))
    const agent = { agentName: 'claude-code', backend: 'scripted' }
    const session = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    unwrap(await handoffs.failSession({ ...session, reason: 'The disk is full' }))
  }
  return dataDir
}

describe('baton without a word, on a terminal,', { timeout: 0 }, () => {
  let nine: string
  beforeAll(async () => {
    nine = await storeWithJobs(9)
  }, 0)

  it.each([80, 40])('shows the latest jobs in %i columns, and where to find more', async (columns) => {
    const { code, out } = await look({ BATONPASS_DATA_DIR: nine }, columns)
    expect(code).toBe(0)
    const words = out.replaceAll(/\s+/g, ' ')
    expect(words).toContain('the latest 8 jobs')
    expect(words).toContain('failed Mend number 9')
    expect(words).not.toContain('Mend number 1 ')
    expect(words).toContain('"baton report"')
    expect(words).toContain('"baton help"')
    expect(out).not.toContain('DAY')
    for (const line of out.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(columns)
  })

  it('shows the help where there is no store yet, and makes none', async () => {
    const { code, out } = await look({ BATONPASS_DATA_DIR: join(folder(), 'none') }, 200)
    expect(code).toBe(0)
    expect(out).toContain(ROOT_HELP.split('\n')[0])
    expect(out).toContain('Exit status:')
  })

  it('says why the store cannot be read, and how to get help', async () => {
    const broken = folder()
    mkdirSync(join(broken, 'data'), { mode: 0o700 })
    writeFileSync(join(broken, 'data', 'PG_VERSION'), '1')
    const { code, out, err } = await look({ BATONPASS_DATA_DIR: broken })
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toMatch(/baton: .*\n"baton help" lists the commands\.\n$/s)
  })
})
