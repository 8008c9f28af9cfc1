import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ServiceStage } from '../http/stage.ts'
import { batonWith } from './terminal.ts'

describe('baton handoff', () => {
  let stage: ServiceStage
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')))
  const file = join(workspace, 'state.md')
  beforeAll(async () => {
    stage = await ServiceStage.open()
    mkdirSync(join(workspace, '.git'))
    mkdirSync(join(workspace, 'src'))
    writeFileSync(file, '# Half done \u001b[31m\n')
  })
  afterAll(async () => {
    await stage[Symbol.asyncDispose]()
    rmSync(workspace, { recursive: true, force: true, maxRetries: 10 })
  })

  const baton = (...args: readonly string[]) =>
    batonWith({ CLAUDE_CODE_SESSION_ID: inside })(
      'handoff',
      ...args,
      '--data-dir',
      stage.folder,
      '--workspace',
      workspace,
    )
  let inside: string | undefined

  const working = async (): Promise<string> => {
    const id = `p-${randomUUID()}`
    await stage.hook(id, 'session-start', { source: 'resume', cwd: join(workspace, 'src') })
    const messages = [{ role: 'assistant', text: 'Half.' }]
    await stage.ask('POST', `/sessions/${id}/turns`, { body: { turns: [{ messages }] } })
    return id
  }

  it('needs one document, which can be read', async () => {
    for (const args of [[], ['a', '--show'], ['--show', '--withdraw']])
      expect(await baton(...args)).toMatchObject({ code: 2, err: expect.stringContaining('Name one document') })
    expect(await baton(join(workspace, 'none.md'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be read'),
    })
    writeFileSync(join(workspace, 'empty.md'), ' \n')
    expect(await baton(join(workspace, 'empty.md'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('is empty'),
    })
    writeFileSync(join(workspace, 'long.md'), 'x'.repeat(1_048_577))
    expect(await baton(join(workspace, 'long.md'))).toMatchObject({ code: 2, err: expect.stringContaining('megabyte') })
  })

  it('leaves it for the last session here once that has ended, and says so', async () => {
    const alone = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')))
    onTestFinished(() => rmSync(alone, { recursive: true, force: true }))
    const id = `p-${randomUUID()}`
    await stage.hook(id, 'session-start', { source: 'startup', cwd: alone })
    const messages = [{ role: 'assistant', text: 'Half.' }]
    await stage.ask('POST', `/sessions/${id}/turns`, { body: { turns: [{ messages }] } })
    await stage.hook(id, 'session-end', { reason: 'other', cwd: alone })
    const said = await batonWith({})('handoff', file, '--data-dir', stage.folder, '--workspace', alone)
    expect(said).toMatchObject({ code: 0, err: expect.stringContaining(`This is of the last one, ${id}.`) })
    expect((await stage.ask('GET', `/sessions/${id}`)).json).toMatchObject({
      epoch: 2,
      pending_document: { workspace: alone },
    })
  })

  it('says that nobody works here, and that nothing waits', async () => {
    expect(await baton(file)).toMatchObject({ code: 3, err: expect.stringContaining('No session works in') })
    for (const flag of ['--show', '--withdraw'])
      expect(await baton(flag)).toMatchObject({ code: 3, err: expect.stringContaining('No document waits in') })
  })

  it('leaves the document of the one session that works here, shows it, and takes it back', async () => {
    const id = await working()
    const said = await baton(file, '--reason', 'Full')
    expect(said).toMatchObject({ code: 0 })
    expect(said.out).toContain(`The document waits for the next session in ${workspace}, until `)
    expect((await stage.ask('GET', `/sessions/${id}`)).json.pending_document?.workspace).toBe(workspace)
    const shown = await baton('--show')
    expect(shown.out).toContain('# Half done')
    expect(shown.out).not.toContain('\u001b')
    expect(JSON.parse((await baton('--show', '--json')).out).document).toBe('# Half done \u001b[31m\n')
    expect((await baton(file)).out).toContain('takes the place of the one')
    expect((await baton('--withdraw')).out).toContain('Withdrawn')
    expect((await baton('--show')).code).toBe(3)
    await stage.hook(id, 'session-end', { reason: 'other' })
  })

  it('asks which one where several work here, unless it was typed in one of them', async () => {
    const [one, two] = [await working(), await working()]
    const asked = await baton(file)
    expect(asked.code).toBe(3)
    for (const id of [one, two]) expect(asked.err).toContain(id)
    const named = await baton(file, '--session', one, '--json')
    expect(JSON.parse(named.out)).toMatchObject({ status: 'pending', replaced: false })
    inside = two
    expect(JSON.parse((await baton(file, '--json')).out).replaced).toBe(true)
    expect((await stage.ask('GET', `/sessions/${two}`)).json.pending_document).not.toBeNull()
    inside = undefined
    expect(await baton(file, '--session', 'nobody')).toMatchObject({
      code: 3,
      err: expect.stringContaining('no such session'),
    })
    const other = await baton(file, '--session', one, '--target', 'reviewer')
    expect(other).toMatchObject({ code: 0, out: expect.stringContaining('to "reviewer" has begun') })
  })
})
