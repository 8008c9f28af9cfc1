import { equal, match } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { serve } from '../../src/main/serve.ts'
import { textOf } from './claude-runs.ts'
import { bash, uses } from './claude-stage.ts'
import { askClaude, claudeHome } from './hooks-stage.ts'
import { PATIENT } from './patience.ts'

/** 66 % of a window of 200,000. */
const USED = uses(10, 1_000, 131_000, 60)
const MAIN = fileURLToPath(new URL('../../src/adapters/cli/main.ts', import.meta.url))

const tool = (name: string, input: unknown) => ({ tool: { name: `mcp__baton__${name}`, input }, usage: USED })

describe('the real claude with baton mcp', PATIENT, () => {
  it('calls its tools, and is recognised without being told', async (t) => {
    const turns = [
      { tool: bash('echo quokka in the dunes'), usage: USED },
      { text: 'Done.', usage: USED },
      tool('look_back', { words: 'dunes' }),
      tool('get_context_remaining', {}),
      tool('handoff', { document: 'The wombat is next.' }),
      { text: 'Done again.', usage: USED },
    ]
    const place = await claudeHome(t, { turns })
    const { api, home, folder, environment } = place
    const args = ['--import', import.meta.resolve('tsx'), MAIN, 'mcp', '--data-dir', folder]
    const settings = { mcpServers: { baton: { command: process.execPath, args } } }
    const config = join(home, 'mcp.json')
    writeFileSync(config, JSON.stringify(settings))
    const service = await serve({ folder, dataDir: folder, environment })
    await using _ = { [Symbol.asyncDispose]: () => service.stop() }

    const first = await askClaude(place, 'Where is it?')
    equal(first.code, 0, first.err)
    const [, provider = ''] = /"session_id":"([0-9a-f-]{36})"/.exec(first.out) ?? []
    const second = await askClaude(place, 'And now?', {}, ['--resume', provider, '--mcp-config', config])
    equal(second.code, 0, second.err)

    const asked = api.requests.filter((_, index) => api.asked[index] === 'turn').map(textOf)
    equal(asked.length, 6)
    const [, , , found = '', window = '', handedOff = ''] = asked
    match(found, /Window 1, turn 2: result of \[call:toolu_1\]/)
    match(found, /\| quokka in the dunes/)
    match(window, /79 % of the usable window is used: 132k of 167k before it compacts \(200k window\)/)
    match(handedOff, /what_happens_next/)
  })
})
