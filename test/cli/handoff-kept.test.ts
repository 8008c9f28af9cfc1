import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { keepHandoff, newHandoffId } from '../../src/adapters/hook-client/spooled-posts.ts'
import { readPending } from '../../src/adapters/hook-client/waiting-document.ts'
import { ServiceStage } from '../http/stage.ts'
import { program } from '../support/bundle.ts'

const folder = (): string => {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'kept-')))
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  return made
}

/** Hides nothing. */
const asItIs = (text: string): string => text

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

const run = (main: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  new Promise<Ended>((done) => {
    const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...environment }
    execFile(process.execPath, [main, ...args], { env }, (error, out, err) =>
      done({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err }),
    )
  })

const document = (dir: string): string => {
  writeFileSync(join(dir, 'state.md'), '# Half done')
  return join(dir, 'state.md')
}

describe('baton handoff without a service', () => {
  it('keeps the document, and says where it is and when it takes effect', async () => {
    const main = await program(resolve('test/support/baton-without-service.ts'))
    for (const session of ['p-1', undefined]) {
      const [dir, workspace] = [folder(), folder()]
      const named = session === undefined ? [] : ['--session', session]
      const args = ['handoff', document(workspace), '--data-dir', dir, '--workspace', workspace, ...named]
      const ended = await run(main, args)
      expect(ended).toMatchObject({ code: 0, err: expect.stringContaining('could not be started (exit status 7)') })
      const [file = ''] = readdirSync(join(dir, 'handoffs'))
      expect(ended.out).toContain(
        `The document is kept in ${join(dir, 'handoffs', file)}. It takes effect when a service`,
      )
      expect(readFileSync(join(dir, 'handoffs', file), 'utf8')).toBe('# Half done')
      const [kept = ''] = readdirSync(join(dir, 'spool'))
      expect(JSON.parse(readFileSync(join(dir, 'spool', kept), 'utf8'))).toMatchObject({
        handoff: { document: '# Half done', ...(session === undefined ? { working_in: workspace } : { session }) },
      })
    }
  })

  it('starts one although another was started a moment ago and has ended', async () => {
    const main = await program(resolve('src/adapters/cli/main.ts'))
    const [dir, workspace] = [folder(), folder()]
    // As the hook left it that started the service which has ended since.
    writeFileSync(join(dir, 'service.start'), '1')
    const args = ['handoff', document(workspace), '--data-dir', dir, '--workspace', workspace, '--session', 'p-1']
    const ended = await run(main, args)
    const { pid } = JSON.parse(readFileSync(join(dir, 'service.json'), 'utf8')) as { readonly pid: number }
    onTestFinished(() => void process.kill(pid, 'SIGKILL'))
    // The answer of a service: nobody knows that session.
    expect(ended).toMatchObject({ code: 3, err: expect.stringContaining('There is no such session here') })
  })
})

describe('a document that was kept', () => {
  it("has its secrets hidden, by the person's own rules too, in its file and in the spool", async () => {
    const [dir, workspace] = [folder(), folder()]
    const key = `ghp_${'Ab3dEf9hIj'.repeat(4).slice(0, 36)}`
    writeFileSync(join(dir, 'config.json'), JSON.stringify({ redact: { patterns: ['ACME-[0-9]+'] } }))
    writeFileSync(join(workspace, 'state.md'), `Use ${key} and ACME-123456.`)
    const main = await program(resolve('test/support/baton-without-service.ts'))
    const place = ['--data-dir', dir, '--workspace', workspace, '--session', 'p-1']
    const args = ['handoff', join(workspace, 'state.md'), ...place, '--reason', `Has ${key}, ACME-123456`]
    expect(await run(main, args)).toMatchObject({ code: 0, err: expect.stringContaining('4 secrets were hidden') })
    const texts = ['spool', 'handoffs'].map((name) => {
      const [file = ''] = readdirSync(join(dir, name))
      return readFileSync(join(dir, name, file), 'utf8')
    })
    for (const text of texts) {
      expect(text).not.toContain(key)
      expect(text).not.toContain('ACME-123456')
      expect(text).toContain('Use [hidden:key] and [hidden:pattern].')
    }
  })

  it.each(['by its session', 'by its workspace'])('is taken by the service, %s, once', async (by) => {
    const workspace = folder()
    mkdirSync(join(workspace, '.git'))
    await using stage = await ServiceStage.open({ folder: folder() })
    const session = `p-${randomUUID()}`
    await stage.hook(session, 'session-start', { source: 'resume', cwd: workspace })
    const messages = [{ role: 'assistant', text: 'Half.' }]
    await stage.ask('POST', `/sessions/${session}/turns`, { body: { turns: [{ messages }] } })
    const id = newHandoffId()
    const whose = by === 'by its session' ? { session } : { working_in: workspace }
    const path = keepHandoff(stage.folder, id, { ...whose, document: '# Half done', reason: 'Full' }, asItIs)
    while (readPending(stage.folder, workspace) === undefined) await pause(50)
    expect(readPending(stage.folder, workspace)).toMatchObject({ document: '# Half done', path })
    while (readdirSync(join(stage.folder, 'spool')).some((name) => name.endsWith('.json'))) await pause(50)
    // Delivered over again, as after a reply that was lost.
    const again = await stage.ask('POST', `/sessions/${session}/handoff`, {
      body: { document: '# Half done', command_id: id },
    })
    expect(again.json).toMatchObject({ status: 'pending', replaced: false })
  })

  it('of nobody is put aside, and can still be read', async () => {
    await using stage = await ServiceStage.open({ folder: folder() })
    const path = keepHandoff(stage.folder, newHandoffId(), { working_in: folder(), document: '# Lost' }, asItIs)
    const rejected = join(stage.folder, 'spool', 'rejected')
    while (readdirSync(rejected).length === 0) await pause(50)
    expect(readFileSync(path, 'utf8')).toBe('# Lost')
  })
})
