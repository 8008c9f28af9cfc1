import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hooksFiring } from '../../src/adapters/doctor/hooks-firing.ts'
import { hooksInstalled } from '../../src/adapters/doctor/hooks-installed.ts'
import { ownProgram } from '../../src/adapters/install/own-program.ts'
import { TERMINAL_AGENTS } from '../../src/main/runtimes.ts'
import type { SettingsPlace } from '../../src/ports/agent/vendor.ts'
import { folder, results, write } from './stage.ts'

const hooksOf = (name: string) => {
  const agent = TERMINAL_AGENTS.find((one) => one.name === name)
  if (agent === undefined) throw new TypeError(`There is no terminal agent "${name}"`)
  return (place: SettingsPlace) => hooksInstalled(place, agent)
}
const [claudeHooks, codexHooks] = [hooksOf('claude'), hooksOf('codex')]

describe('hooks', () => {
  const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PreCompact', 'PostCompact', 'Stop', 'SessionEnd']
  const WORDS: Readonly<Record<string, string>> = {
    SessionStart: 'session-start',
    UserPromptSubmit: 'user-prompt-submit',
    PostToolUse: 'post-tool-use',
    PreCompact: 'pre-compact',
    PostCompact: 'post-compact',
    Stop: 'stop',
    SessionEnd: 'session-end',
  }
  const settings = (program: string, events = EVENTS) => ({
    statusLine: { type: 'command', command: `${program} hook statusline` },
    hooks: Object.fromEntries(
      events.map((event) => [
        event,
        [{ matcher: '', hooks: [{ type: 'command', command: `${program} hook ${WORDS[event]}` }] }],
      ]),
    ),
  })
  const stage = () => {
    const [home, workingFolder] = [folder(), folder()]
    const bin = write(join(home, 'bin', 'baton'), '#!/bin/sh\n')
    chmodSync(bin, 0o755)
    return { home, workingFolder, environment: { HOME: home, PATH: join(home, 'bin') } }
  }

  it('that are nowhere are no problem', async () => {
    const place = stage()
    write(join(place.home, '.claude', 'settings.json'), {
      hooks: { Stop: [{ hooks: [{ command: 'fish hook stop' }] }] },
    })
    expect(results([...(await claudeHooks(place)), ...(await codexHooks(place))])).toEqual(['ok', 'ok'])
    expect(await hooksFiring(folder(), place, TERMINAL_AGENTS)).toEqual([])
  })

  it.each([
    ['the person’s', (place: ReturnType<typeof stage>) => join(place.home, '.claude', 'settings.json')],
    ['the project’s', (place: ReturnType<typeof stage>) => join(place.workingFolder, '.claude', 'settings.json')],
    ['the local', (place: ReturnType<typeof stage>) => join(place.workingFolder, '.claude', 'settings.local.json')],
  ])('are found in %s settings', async (_, fileOf) => {
    const place = stage()
    const file = write(fileOf(place), settings('baton'))
    expect(await claudeHooks(place)).toEqual([{ result: 'ok', text: `installed in ${file}` }])
    expect(await hooksFiring(folder(), place, TERMINAL_AGENTS)).toMatchObject([
      { result: 'warning', text: expect.stringContaining('no event has come') },
    ])
  })

  it('that are there in part, twice, switched off or without their program are named', async () => {
    const place = stage()
    const file = join(place.home, '.claude', 'settings.json')
    write(file, settings('baton', ['SessionStart']))
    expect(await claudeHooks(place)).toMatchObject([
      { result: 'warning', text: expect.stringContaining('pre-compact') },
    ])
    write(file, { ...settings('baton'), disableAllHooks: true })
    expect(await claudeHooks(place)).toMatchObject([
      { result: 'problem', text: expect.stringContaining('switches all hooks off') },
    ])
    write(file, settings('/nowhere/baton'))
    expect(await claudeHooks(place)).toMatchObject([
      { result: 'problem', text: expect.stringContaining('/nowhere/baton') },
    ])
    write(file, settings('baton'))
    write(join(place.workingFolder, '.claude', 'settings.json'), settings(`"${join(place.home, 'bin', 'baton')}"`))
    expect(await claudeHooks(place)).toMatchObject([
      { result: 'warning', text: expect.stringContaining('more than one entry') },
    ])
  })

  it('that look for their program by themselves are lost where neither its file nor baton is there', async () => {
    const place = stage()
    const script = write(join(place.home, "it's", 'cli', 'main.js'), '')
    const program = ownProgram({ environment: {}, script })
    if (!program.ok) throw new Error(program.error)
    const { launcher } = program.value
    const file = write(join(place.home, '.claude', 'settings.json'), settings(launcher))
    const ok = [{ result: 'ok', text: `installed in ${file}` }]
    const lost = [{ result: 'problem', text: expect.stringContaining(script) }]
    expect(await claudeHooks(place)).toEqual(ok)
    const gone = launcher.replace(process.execPath, '/gone/node')
    write(file, settings(gone))
    expect(await claudeHooks(place)).toMatchObject(lost)
    const node = write(join(place.home, 'bin', 'node'), '#!/bin/sh\n')
    chmodSync(node, 0o755)
    expect(await claudeHooks(place)).toEqual(ok)
    rmSync(script)
    expect(await claudeHooks(place)).toEqual(ok)
    rmSync(join(place.home, 'bin', 'baton'))
    expect(await claudeHooks(place)).toMatchObject(lost)
  })

  it('of the plugin are known, also beside those of an installation', async () => {
    const place = stage()
    const file = join(place.home, '.claude', 'settings.json')
    const enabledPlugins = { 'baton@batonpass': true }
    const statusLine = { type: 'command', command: 'baton hook statusline' }
    write(file, { enabledPlugins })
    expect(await claudeHooks(place)).toMatchObject([{ result: 'problem', text: expect.stringContaining('PATH') }])
    chmodSync(write(join(place.home, 'bin', 'node'), '#!/bin/sh\n'), 0o755)
    write(file, { enabledPlugins, statusLine })
    expect(results(await claudeHooks(place))).toEqual(['ok', 'ok'])
    write(file, { ...settings('baton'), enabledPlugins })
    expect(await claudeHooks(place)).toMatchObject([
      { result: 'warning', text: expect.stringContaining('both name the hooks') },
      { result: 'ok' },
    ])
  })

  it('that are missing are put there by one command', async () => {
    const place = stage()
    write(join(place.home, '.claude', 'settings.json'), settings('baton', ['SessionStart']))
    write(join(place.home, '.codex', 'hooks.json'), settings('baton', ['Stop']))
    expect(await claudeHooks(place)).toMatchObject([{ repair: expect.stringContaining('baton claude install') }])
    expect(await codexHooks(place)).toMatchObject([{ repair: expect.stringContaining('baton codex install') }])
  })

  it.each(['', 'null', '[]', '{"hooks": 7}', '{"hooks": {"Stop": [[[[]]]]}, "statusLine": []}', '{', '\u0000'])(
    'in settings that are %j break nothing',
    async (text) => {
      const place = stage()
      write(join(place.home, '.claude', 'settings.json'), text)
      write(join(place.home, '.codex', 'hooks.json'), text)
      for (const found of [await claudeHooks(place), await codexHooks(place)]) expect(found).not.toEqual([])
    },
  )

  it('of Codex are found in its hooks and in its configuration, but not in a comment', async () => {
    const place = stage()
    const file = write(join(place.home, '.codex', 'config.toml'), '# notify = ["baton", "hook", "stop"]\n')
    expect(results(await codexHooks(place))).toEqual(['ok'])
    expect((await codexHooks(place))[0]?.text).toContain('none are installed')
    write(file, 'notify = ["baton", "hook", "stop"]\n')
    expect((await codexHooks(place)).map(({ text }) => text)).not.toContainEqual(expect.stringContaining('none'))
  })

  it('are called when a card says so, and have trouble when their log says so', async () => {
    const [made, place] = [folder(), stage()]
    write(join(made, 'sessions', 'broken.json'), '{')
    write(join(made, 'kept', 'a.json'), { updatedAt: '2099-01-01T00:00:00Z' })
    const now = Date.parse('2026-11-17T12:00:00Z')
    write(join(made, 'sessions', 'a.json'), { v: 1, updatedAt: '2026-11-17T11:57:00Z' })
    expect(await hooksFiring(made, place, TERMINAL_AGENTS, now)).toEqual([
      { result: 'ok', text: 'the newest event came 3 min ago' },
    ])
    write(join(made, 'hook.log'), 'first\n2026-11-17 it went wrong\n')
    expect(await hooksFiring(made, place, TERMINAL_AGENTS)).toMatchObject([
      { result: 'ok' },
      { result: 'warning', text: expect.stringContaining('of 2 lines: 2026-11-17 it went wrong') },
    ])
  })
})
