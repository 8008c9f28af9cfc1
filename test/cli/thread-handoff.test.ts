import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { readBlock } from '../../src/domain/memory-block/memory-block.ts'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

/** Runs `baton thread …` in this process, at a terminal with these answers, or in a script. */
const batonAt = (database: string, environment: Readonly<Record<string, string>> = {}) => {
  const run = async (answers: string[] | undefined, args: readonly string[], input = '') => {
    const [out, err, asked]: [string[], string[], string[]] = [[], [], []]
    const ask = async (question: string): Promise<string | undefined> => {
      asked.push(question)
      return answers?.shift()
    }
    const code = await runCli(['thread', ...args], {
      out: { line: (text) => void out.push(text) },
      err: { line: (text) => void err.push(text) },
      version: '0.0.0',
      environment: { ...environment, PATH: process.env.PATH, BATONPASS_DATABASE_URL: database },
      input: async () => input,
      ...(answers !== undefined && { ask }),
    })
    return { code, out: out.join('\n'), err: err.join('\n'), asked }
  }
  return {
    script: (...args: readonly string[]) => run(undefined, args),
    piped: (input: string, ...args: readonly string[]) => run(undefined, args, input),
    person: (answers: string[], ...args: readonly string[]) => run(answers, args),
  }
}

describe('baton thread handoff', () => {
  let database: string
  let workspace: string
  let key = 0
  beforeAll(async () => {
    database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  })
  beforeEach(async () => {
    workspace = realpathSync(mkdtempSync(join(tmpdir(), 'thread-')))
    key += 1
    await using batonpass = await createBatonpass({ database })
    const { handoffs } = batonpass
    const opening = {
      originalTask: 'Mend the till',
      externalKey: `till-${key}`,
      workspace: { workingDirectory: workspace },
    }
    const { conversation } = unwrap(await handoffs.openConversation(opening))
    const agent = { agentName: 'claude-code', backend: 'claude_code' }
    const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    unwrap(await handoffs.recordTurn({ ...working, messages: [{ role: 'assistant', text: 'Half of it works.' }] }))
  })
  afterAll(() => rmSync(workspace, { recursive: true, force: true }))

  const file = (name = 'CLAUDE.md') => join(workspace, name)
  const block = (name?: string) => {
    const read = readBlock(existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '')
    return read.ok ? read.value : undefined
  }
  const place = () => ['--workspace', workspace]

  it('previews for a script, and writes nothing', async () => {
    const { script } = batonAt(database)
    const said = await script('handoff', '--preview', ...place())
    expect(said).toMatchObject({ code: 0, asked: [] })
    expect(said.out).toContain('Half of it works.')
    expect(said.out).toContain('Nothing was written into CLAUDE.md.')
    const draft = JSON.parse((await script('handoff', '--preview', '--json', '--key', `till-${key}`)).out)
    expect(draft).toMatchObject({ refinements: 0, target: { workspace, file: 'CLAUDE.md', isTracked: false } })
    expect(existsSync(file())).toBe(false)
  })

  it('asks nobody in a script, and says which flags there are', async () => {
    const { script } = batonAt(database)
    expect(await script('handoff', ...place())).toMatchObject({
      code: 2,
      err: expect.stringContaining('--preview, --apply'),
    })
    expect(await script('handoff', '--edit', ...place())).toMatchObject({
      code: 2,
      err: expect.stringContaining('terminal'),
    })
    expect(await script('handoff', '--apply', '--preview')).toMatchObject({ code: 2 })
    expect(await script('handoff', '--apply', '--budget', '7')).toMatchObject({ code: 2 })
    expect(await script('handoff', '--apply', '--model', 'm', '--extractive')).toMatchObject({ code: 2 })
  })

  it('opens the thread for a script, shows it, refuses another one, and cleans up', async () => {
    const { script, piped } = batonAt(database)
    expect((await script('setup', ...place())).out).toContain('is at the top now')
    expect((await script('setup', ...place())).out).toContain('was there before')
    expect(block()?.state).toBe('free')
    const opened = await piped(
      'Only this matters.',
      'handoff',
      '--apply',
      '--summary',
      '-',
      '--key',
      `till-${key}`,
      '--to-key',
      `n-${key}`,
      '--json',
      ...place(),
    )
    expect(opened.code).toBe(0)
    expect(JSON.parse(opened.out)).toMatchObject({
      threadKey: `n-${key}`,
      conversation: { metadata: { handoff_pending: true } },
    })
    expect(opened.out).not.toContain('holder')
    expect(block()).toMatchObject({ state: 'held', held: { threadKey: `n-${key}`, summary: 'Only this matters.' } })
    expect((await script('status', ...place())).out).toContain(`waits for the thread "n-${key}"`)
    const second = await script('handoff', '--apply', '--key', `till-${key}`)
    expect(second).toMatchObject({
      code: 3,
      err: expect.stringMatching(/waits for the thread .*\(memory_block\.held\)/),
    })
    expect((await script('cleanup', ...place())).out).toContain('left as it is')
    expect(block()?.state).toBe('held')
    expect((await script('cleanup', '--force', ...place())).out).toContain('was taken out')
    expect((await script('cleanup', '--force', ...place())).out).toContain('nothing to take out')
    expect(block()?.state).toBe('free')
    expect((await script('status', ...place())).out).toContain('no summary')
    expect((await script('history', '--json')).out).toContain('Only this matters.')
  })

  it('opens no thread of a conversation that nobody has named or seen, and says which one it would be', async () => {
    const { script } = batonAt(database)
    for (const mode of ['--apply', '--without'])
      expect(await script('handoff', mode, '--to-key', `unseen-${key}`, ...place())).toMatchObject({
        code: 3,
        err: expect.stringMatching(`baton thread handoff ${mode} --from [0-9a-f-]{36}`),
      })
    await using batonpass = await createBatonpass({ database })
    expect(await batonpass.history.conversationByKey(`unseen-${key}`)).toBeUndefined()
    expect((await script('handoff', '--preview', ...place())).code).toBe(0)
    expect((await script('handoff', '--apply', '--to-key', `unseen-${key}`, ...place())).code).toBe(0)
    expect(await batonpass.history.conversationByKey(`unseen-${key}`)).toBeDefined()
  })

  it('refines with feedback three times at most', async () => {
    const { script } = batonAt(database)
    const feedback = ['a', 'b', 'c', 'd'].flatMap((text) => ['--feedback', text])
    expect(
      JSON.parse((await script('handoff', '--preview', '--json', ...place(), ...feedback.slice(0, 6))).out).refinements,
    ).toBe(3)
    expect(await script('handoff', '--preview', ...place(), ...feedback)).toMatchObject({
      code: 3,
      err: expect.stringContaining('thread.refinements_spent'),
    })
  })

  it('writes into no file that git keeps unless somebody says so, and names one that it does not keep', async () => {
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', workspace, ...args], { stdio: 'ignore' })
    git('init')
    writeFileSync(file(), '# House rules\n')
    writeFileSync(file('.gitignore'), 'CLAUDE.local.md\n')
    git('add', '.')
    const { script, person } = batonAt(database)
    const refused = await script('handoff', '--apply', '--key', `till-${key}`, ...place())
    expect(refused).toMatchObject({
      code: 3,
      err: expect.stringMatching(/tracked by git.*--yes.*--file CLAUDE\.local\.md/),
    })
    expect(readFileSync(file(), 'utf8')).toBe('# House rules\n')
    const asked = await person(['a', ''], 'handoff', '--to-key', `g-${key}`, ...place())
    expect(asked).toMatchObject({
      code: 0,
      asked: [expect.stringContaining('[a]ccept'), expect.stringContaining('CLAUDE.local.md')],
    })
    expect(readFileSync(file(), 'utf8')).toBe('# House rules\n')
    expect(block('CLAUDE.local.md')?.state).toBe('held')
    expect((await script('handoff', '--apply', '--yes', '--key', `till-${key}`, ...place())).code).toBe(0)
    expect(readFileSync(file(), 'utf8')).toContain('# House rules\n')
    expect(block()?.state).toBe('held')
  })

  it('shows the summary to a person, who edits, refines, and accepts it', async () => {
    const editor = { EDITOR: 'false', VISUAL: `printf 'My own words.' > ` }
    const { person } = batonAt(database, editor)
    const said = await person(['?', 'r', 'shorter', 'e', 'a'], 'handoff', '--to-key', `p-${key}`, ...place())
    expect(said.code).toBe(0)
    expect(said.out).toContain('refined 1 time')
    expect(said.out).toContain('written by you')
    expect(block()).toMatchObject({ state: 'held', held: { summary: 'My own words.' } })
  })

  it('leaves everything as it is when the person quits, goes away, or the editor fails', async () => {
    const { person } = batonAt(database, { EDITOR: 'false' })
    for (const answers of [['q'], [], ['e', 'q']]) {
      const said = await person(answers, 'handoff', ...place())
      expect(said).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was written.') })
    }
    expect(existsSync(file())).toBe(false)
  })

  it('opens a fresh thread without a summary when it is rejected, or when a script says so', async () => {
    const { person, script } = batonAt(database)
    expect((await person(['j'], 'handoff', '--to-key', `j-${key}`, ...place())).out).toContain(
      'without a summary is open',
    )
    expect(
      (await script('handoff', '--without', '--key', `till-${key}`, '--to-key', `w-${key}`, ...place())).code,
    ).toBe(0)
    expect(existsSync(file())).toBe(false)
    await using batonpass = await createBatonpass({ database })
    const parent = await batonpass.history.conversationByKey(`till-${key}`)
    for (const name of ['j', 'w'])
      expect(await batonpass.history.conversationByKey(`${name}-${key}`)).toMatchObject({ parentId: parent?.id })
  })

  it('asks a person whether to continue without a handoff when there is no summary, and refuses a script', async () => {
    await using batonpass = await createBatonpass({ database })
    const workingDirectory = workspace
    const opening = { originalTask: 'Nothing yet', externalKey: `empty-${key}`, workspace: { workingDirectory } }
    const { conversation } = unwrap(await batonpass.handoffs.openConversation(opening))
    const { person, script } = batonAt(database)
    const from = ['handoff', '--from', conversation.id]
    expect(await script(...from, '--apply')).toMatchObject({
      code: 3,
      err: expect.stringContaining('thread.not_summarized'),
    })
    const no = await person(['n'], ...from, '--to-key', `no-${key}`)
    expect(no).toMatchObject({ code: 0, asked: ['Continue without a handoff? (Y/n) '] })
    expect(await batonpass.history.conversationByKey(`no-${key}`)).toBeUndefined()
    await person([''], ...from, '--to-key', `yes-${key}`)
    expect(await batonpass.history.conversationByKey(`yes-${key}`)).toMatchObject({ parentId: conversation.id })
  })
})
