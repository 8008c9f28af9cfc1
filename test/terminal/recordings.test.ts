import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { everyPage } from '../../src/ports/store/page.ts'
import { CLONE } from '../support/clean-room.ts'
import { Stage } from './stage.ts'

/** The agents of which there are recordings. */
type Recorded = 'claude' | 'codex'

const FIXTURES: Readonly<Record<Recorded, string>> = { claude: 'claude-code', codex: 'codex' }
const PLACES: Readonly<Record<Recorded, string>> = {
  claude: '.claude/projects/-work',
  codex: '.codex/sessions/2026/11/17',
}

const SHARED = join(CLONE, '../shared/recordings')
const hasShared = existsSync(SHARED)
if (!hasShared) console.log(`There is no ${SHARED}: only the fixtures are read.`)

const recordings = (Object.keys(FIXTURES) as Recorded[]).flatMap((runtime) =>
  ['test/fixtures/recordings', ...(hasShared ? [SHARED] : [])].flatMap((root) => {
    const folder = join(root, FIXTURES[runtime])
    const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    return files.map((name) => [runtime, join(folder, name)] as const)
  }),
)

/** Records a transcript in pieces, each of which ends where somebody speaks to the agent, and answers with the record. */
const recorded = async (runtime: Recorded, pieces: readonly string[], restarts: boolean) => {
  await using stage = new Stage()
  const transcriptPath = join(stage.home, PLACES[runtime], `${stage.id}.jsonl`)
  mkdirSync(dirname(transcriptPath), { recursive: true })
  const hook = (event: 'session-start' | 'stop') => stage.hook(event, { transcriptPath }, {}, runtime)
  await hook('session-start')
  for (const piece of pieces) {
    appendFileSync(transcriptPath, piece)
    await hook('stop')
    if (restarts) await stage.restart()
  }
  await hook('stop')
  const { id, conversationId, progress } = await stage.session()
  const said: string[] = []
  for await (const { role, text } of everyPage((page) => stage.store.messages.listMessages(conversationId, page)))
    said.push(`${role}: ${text}`)
  const snapshots = (await stage.store.snapshots.listForSession(id, {})).items.map(({ type }) => type)
  return { turns: progress.turns, said, compactions: snapshots.filter((type) => type === 'truncation').length }
}

const isSpokenTo = (line: string): boolean => /"type":"user"|"role":"user"/.test(line.slice(0, 2_000))

describe('a recorded transcript', () => {
  it.each(recordings)('of %s gives the same record in one piece and in many: %s', async (runtime, file) => {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
    const pieces: string[] = []
    for (const line of lines) {
      if (pieces.length === 0 || isSpokenTo(line)) pieces.push('')
      pieces[pieces.length - 1] += `${line}\n`
    }
    const whole = await recorded(runtime, [pieces.join('')], false)
    expect(await recorded(runtime, pieces, false)).toEqual(whole)
    expect(await recorded(runtime, pieces.slice(0, 25).concat(pieces.slice(25).join('')), true)).toEqual(whole)
  })
})
