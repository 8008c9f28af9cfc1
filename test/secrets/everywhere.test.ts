import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askService } from '../../src/adapters/hook-client/ask-service.ts'
import { program } from '../support/bundle.ts'
import { Transcript } from '../terminal/transcripts.ts'
import { ALL, SECRETS, SecretsStage } from './stage.ts'

/** A busy machine takes its time. */
const PATIENT = { timeout: 600_000 }

const SESSION = '5b0a8a2e-6c2f-4a1e-9d7e-0f1e2d3c4b5a'
const NEXT = `${SESSION}-next`

let stage: SecretsStage
beforeAll(async () => {
  stage = await SecretsStage.open()
}, PATIENT.timeout)
afterAll(() => stage.close())

/** Runs a command that has to succeed. */
const baton = async (...args: readonly string[]) => {
  const ended = await stage.baton(args)
  expect(ended).toMatchObject({ code: 0 })
  return ended
}

/** A service in this process, until it is stopped. */
const served = async () => {
  const stop = new AbortController()
  let ended: ReturnType<SecretsStage['baton']> | undefined
  await new Promise<void>((isThere, fail) => {
    const args = ['serve', '--data-dir', stage.folder, ...stage.store, '--json', '--verbose']
    ended = stage.baton(args, { signal: stop.signal, onLine: () => isThere() })
    ended.then(({ err }) => fail(new Error(err)), fail)
  })
  return {
    stop: async () => {
      stop.abort()
      return await ended
    },
  }
}

/** An agent that asks over MCP. */
const asking = async (session: string) => {
  const args = [await program(resolve('src/adapters/cli/main.ts')), 'mcp', '--session', session, '--all']
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args, '--data-dir', stage.folder, ...stage.store],
    cwd: stage.workspace,
    env: { ...stage.environment },
    stderr: 'pipe',
  })
  transport.stderr?.on('data', (said) => stage.outputs.push(`$ baton mcp\n${said}`))
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport, PATIENT)
  const keep = (what: string, said: object): string => {
    stage.outputs.push(`$ mcp ${what}\n${JSON.stringify(said)}`)
    return JSON.stringify(said)
  }
  return {
    call: async (name: string, given: Record<string, unknown> = {}) => {
      const said = await client.callTool({ name, arguments: given }, PATIENT)
      expect([name, given, said.isError ?? false, said.isError ? said.content : '']).toEqual([name, given, false, ''])
      return keep(name, said)
    },
    readResources: async () => {
      const { resources } = await client.listResources({}, PATIENT)
      keep('resources', resources)
      for (const { uri } of resources) keep(uri, await client.readResource({ uri }, PATIENT))
      return resources.length
    },
    close: () => client.close(),
  }
}

// Each part goes on where the one before has ended: one store holds all of it, and is looked through at the end of each.
describe('keys that are planted everywhere are in no file, no table and no output, and are counted', () => {
  it('in a session in a terminal, and what it leaves for the next one and for another agent', PATIENT, async () => {
    const transcript = new Transcript(stage.home, SESSION)
    const input = { session_id: SESSION, transcript_path: transcript.path, cwd: stage.workspace }
    const service = await served()
    await stage.hook('session-start', { ...input, source: 'startup' })
    await stage.hook('user-prompt-submit', { ...input, prompt: `Please use\n${ALL}` })
    transcript.prompts(`Please use\n${ALL}`)
    transcript.answers(`I print\n${ALL}`, 1_000, 'Bash')
    transcript.answers(`All done with\n${ALL}`, 2_000)
    await stage.hook('stop', input)
    const document = join(stage.home, 'document.md')
    writeFileSync(document, `# State\n${ALL}`)
    const place = ['--workspace', stage.workspace, '--data-dir', stage.folder]
    await baton('handoff', document, '--reason', ALL, ...place)
    expect((await baton('handoff', '--show', ...place)).out).toContain('[hidden:')
    const after = new Transcript(stage.home, NEXT)
    const next = { ...input, session_id: NEXT, transcript_path: after.path }
    expect(await stage.hook('session-start', { ...next, source: 'startup' })).toContain('[hidden:')
    await stage.hook('user-prompt-submit', { ...next, prompt: `And now\n${ALL}` })
    after.prompts(`And now\n${ALL}`)
    after.answers(`I go on with\n${ALL}`, 1_000)
    await stage.hook('stop', next)
    const start = { folder: stage.folder, flags: {}, environment: stage.environment }
    for (const path of ['/sessions', `/sessions/${SESSION}`, `/sessions/${NEXT}/signals`])
      stage.outputs.push(`$ GET ${path}\n${JSON.stringify(await askService(start, { method: 'GET', path }))}`)

    const agent = await asking(NEXT)
    expect(await agent.call('read_handoff')).toContain('[hidden:')
    expect(await agent.call('search_history', { words: 'done' })).toContain('[hidden:')
    await agent.call('search_history', { words: SECRETS[0] ?? '' })
    expect(await agent.call('look_back', { window: 1, turn: 1 })).toContain('[hidden:')
    await agent.call('look_back', { words: SECRETS[4] ?? '' })
    await agent.call('lineage')
    await agent.call('get_context_remaining')
    await agent.call('handoff', { document: `# Mine\n${ALL}`, reason: ALL })
    expect(await agent.readResources()).toBeGreaterThan(0)
    await agent.close()

    await baton('handoff', document, '--session', NEXT, '--target', 'leaky', '--reason', ALL, ...place)
    expect((await baton('status', '--data-dir', stage.folder)).out).toMatch(/Secrets: \d+ secrets were hidden/)
    const status = JSON.parse((await baton('status', '--data-dir', stage.folder, '--json')).out)
    expect(status.redaction.hidden).toBeGreaterThan(SECRETS.length)
    expect((await service.stop())?.err).toContain('secrets were hidden')
    expect(await stage.leaks()).toEqual([])
  })

  it('in what waits for a service', PATIENT, async () => {
    writeFileSync(join(stage.folder, 'service.start'), '')
    const input = { session_id: SESSION, cwd: stage.workspace }
    await stage.hook('user-prompt-submit', { ...input, prompt: `Once more\n${ALL}` })
    const spooled = readdirSync(join(stage.folder, 'spool')).filter((name) => name.endsWith('.json'))
    expect(spooled).toHaveLength(1)
    expect(readFileSync(join(stage.folder, 'spool', spooled[0] ?? ''), 'utf8')).toContain('[hidden:')
    expect(await stage.leaks()).toEqual([])
  })

  it('in runs, in the work of a worker, and in what hooks are told and say', PATIENT, async () => {
    const run = (key: string, script: string, ...more: readonly string[]) =>
      stage.baton([
        ...['run', '--command', stage.agent(script), '--agent', 'leaky', '--conversation', key],
        ...['--cwd', stage.workspace, '--config', stage.config, ...more, ...stage.store, `Use\n${ALL}`],
      ])
    const shown = await run('shown', '', '--verbose')
    expect(shown).toMatchObject({
      code: 0,
      err: expect.stringMatching(/\d+ secrets were hidden, and kept out of the record/),
    })
    const json = await run('failed', 'fail', '--json', '--messages')
    expect(json).toMatchObject({ code: 1 })
    expect(JSON.parse(json.out.split('\n').at(-1) ?? '').redaction.hidden).toBeGreaterThan(SECRETS.length)

    // It would wait for ever where nothing was left for it.
    expect((await baton('handoffs', 'list', '--open', '--target', 'leaky', ...stage.store)).out).toContain('leaky')
    const stop = new AbortController()
    const onLine = (line: string): void => {
      if (JSON.parse(line).type === 'run:end') stop.abort()
    }
    const working = ['work', '--command', stage.agent(), '--agent', 'leaky', '--config', stage.config, '--json']
    const worked = await stage.baton([...working, '--verbose', ...stage.store], { signal: stop.signal, onLine })
    expect(worked).toMatchObject({ code: 0 })
    const end = JSON.parse(worked.out.split('\n').at(-1) ?? '')
    expect(end).toMatchObject({ type: 'work:end', ended: { completed: 1 } })
    expect(end.redaction.hidden).toBeGreaterThan(SECRETS.length)

    expect(readFileSync(stage.told, 'utf8')).toContain('[hidden:')
    const sent = (type: string) => stage.requests.filter((request) => request.startsWith(`/${type} `)).length
    expect({ webhook: sent('webhook'), slack: sent('slack'), discord: sent('discord') }).toEqual({
      webhook: 5,
      slack: 1,
      discord: 1,
    })
    expect(await stage.leaks()).toEqual([])
  })

  it('in what is made of the record, and in everything that shows it', PATIENT, async () => {
    const summary = join(stage.home, 'summary.md')
    writeFileSync(summary, `We use\n${ALL}`)
    const thread = ['thread', 'handoff', '--key', 'shown', '--workspace', stage.workspace, '--summary', summary]
    await baton(...thread, '--apply', '--yes', ...stage.store)
    rmSync(summary)
    await baton('replay', new Transcript(stage.home, SESSION).path, '--store', ...stage.store)
    await baton('config', 'check', stage.config)
    for (const key of ['shown', 'failed', `claude:${SESSION}`])
      for (const words of ['messages', 'turns', 'lineage', 'audit trail', 'conversations show', 'sessions show'])
        for (const form of [[], ['--json']]) await baton(...words.split(' '), '--key', key, ...form, ...stage.store)
    for (const words of ['handoffs list', 'conversations list', 'sessions list', 'status'])
      for (const form of [[], ['--json']]) await baton(...words.split(' '), ...form, ...stage.store)
    await baton('look-back', '--key', 'shown', '--turn', '1.1', ...stage.store)
    await baton('look-back', '--key', 'shown', '--words', 'found', ...stage.store)
    expect(await stage.leaks()).toEqual([])
    const tables = await stage.tables()
    expect(Object.keys(tables).length).toBeGreaterThan(10)
    const all = Object.values(tables).join('\n')
    for (const kind of ['private-key', 'variable', 'key', 'json-web-token', 'header', 'url-password', 'value'])
      expect(all).toContain(`[hidden:${kind}]`)
  })
})
