import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claude } from '../../src/adapters/claude/vendor.ts'
import { handoffCommand, isHandoffCommand } from '../../src/adapters/install/handoff-command.ts'
import { ownProgram } from '../../src/adapters/install/own-program.ts'
import { CHECKPOINT_SECTIONS } from '../../src/domain/checkpoint/checkpoint-section.ts'
import { lookAtClaude, lookAtCodex } from '../../src/main/installer.ts'
import { got, installed, put, stage, uninstalled } from './stage.ts'

const text = (file: string): string => readFileSync(file, 'utf8')
const json = (file: string): unknown => JSON.parse(text(file))
const COMMAND = text('plugin/commands/handoff.md')

describe('the plugin', () => {
  it('names the same hooks and the same server as an installation for everybody', async () => {
    const { home, project, change } = stage()
    const bin = put(join(home, 'bin', 'baton'), '#!/bin/sh\n# batonpass\n', 0o755)
    const program = ownProgram({ environment: { PATH: dirname(bin) }, script: bin })
    if (!program.ok) throw new Error(program.error)
    const installation = change({ scope: 'project' })
    await installed({ ...installation, wanted: { ...installation.wanted, program: program.value } })
    const { hooks } = JSON.parse(got(join(project, '.claude', 'settings.json')) ?? '') as { hooks: unknown }
    expect(json('plugin/hooks/hooks.json')).toEqual({ hooks })
    expect(Object.keys((json('plugin/hooks/hooks.json') as { hooks: object }).hooks)).toEqual(
      Object.keys(claude.terminal?.hooks ?? {}),
    )
    expect(json('plugin/.mcp.json')).toEqual(JSON.parse(got(join(project, '.mcp.json')) ?? ''))
    expect(got(join(project, '.claude', 'commands', 'baton', 'handoff.md'))).toBe(COMMAND)
  })

  it('is shipped, and has the version of the package', () => {
    const { version, files } = json('package.json') as { version: string; files: string[] }
    expect(files).toContain('plugin')
    expect(json('plugin/.claude-plugin/plugin.json')).toMatchObject({ name: 'baton', version })
    expect(json('plugin/.claude-plugin/marketplace.json')).toMatchObject({
      name: 'batonpass',
      plugins: [{ name: 'baton', source: './' }],
    })
    expect(readdirSync('plugin').sort()).toEqual(['.claude-plugin', '.mcp.json', 'README.md', 'commands', 'hooks'])
  })

  it('asks for every section of a checkpoint, in order, and takes the focus as data', () => {
    expect([...COMMAND.matchAll(/^## (.+)$/gm)].map(([, section]) => section)).toEqual([...CHECKPOINT_SECTIONS])
    expect(COMMAND).toContain('<focus>\n$ARGUMENTS\n</focus>')
    expect(COMMAND.match(/\$ARGUMENTS/g)).toHaveLength(1)
  })

  it('has a command file that is known again whatever its program is', () => {
    for (const program of ['baton', "'/my tools/node' '/a b/cli/main.js'", '$& $1/baton']) {
      const own = handoffCommand(COMMAND, program)
      expect(own).toContain(`run \`${program} handoff -\``)
      expect(isHandoffCommand(COMMAND, own)).toBe(true)
      expect(isHandoffCommand(COMMAND, `${own} `)).toBe(false)
      expect(isHandoffCommand(COMMAND, own.replace('Goal', 'Goals'))).toBe(false)
    }
  })
})

describe('looking at settings', () => {
  const states = (more: Parameters<ReturnType<typeof stage>['change']>[0], place: ReturnType<typeof stage>) => {
    const { wanted, place: where, folder } = place.change(more)
    return lookAtClaude(where, wanted, folder).map(({ scope, parts, hasPlugin }) => [
      scope,
      hasPlugin,
      ...parts.map(({ state }) => state),
    ])
  }

  it('says what is there, incomplete, outdated, foreign and absent', async () => {
    const place = stage()
    const none = [
      ['user', false, 'absent', 'absent', 'absent', 'absent'],
      ['project', false, 'absent', 'absent', 'absent', 'absent'],
      ['local', false, 'absent', 'absent', 'absent', 'absent'],
    ]
    expect(states({}, place)).toEqual(none)
    await installed(place.change())
    expect(states({}, place)[0]).toEqual(['user', false, 'installed', 'installed', 'installed', 'installed'])
    expect(states({ command: '/new/baton' }, place)[0]).toEqual([
      'user',
      false,
      'outdated',
      'outdated',
      'outdated',
      'outdated',
    ])
    put(
      place.settings,
      '{"statusLine": {"command": "pwd"}, "hooks": {"Stop": [{"hooks": [{"command": "baton hook stop"}]}]}}',
    )
    put(`${place.home}/.claude/commands/baton/handoff.md`, 'mine')
    put(`${place.home}/.claude.json`, '{"mcpServers": {"baton": {"url": "x"}}}')
    expect(states({}, place)[0]).toEqual(['user', false, 'incomplete', 'foreign', 'foreign', 'foreign'])
    put(place.settings, '{ // mine\n}')
    expect(states({}, place)[0]).toEqual(['user', false, 'unreadable', 'unreadable', 'foreign', 'foreign'])
  })

  it('sees the plugin, beside which only the status line is installed', async () => {
    const place = stage()
    put(place.settings, '{"enabledPlugins": {"baton@batonpass": true}}')
    expect(states({}, place)).toEqual([
      ['user', true, 'plugin', 'absent', 'plugin', 'plugin'],
      ['project', false, 'absent', 'absent', 'absent', 'absent'],
      ['local', false, 'absent', 'absent', 'absent', 'absent'],
    ])
    const { remarks } = await installed(place.change())
    expect(remarks).toEqual([expect.stringContaining('only the status line')])
    expect(states({}, place)[0]).toEqual(['user', true, 'plugin', 'installed', 'plugin', 'plugin'])
  })

  it.each(['true', '["^1.0"]'])(
    'takes the plugin as on where a scope says %s, and the nearest scope counts',
    (isOn) => {
      const place = stage()
      const on = `{"enabledPlugins": {"baton@elsewhere": ${isOn}}}`
      const off = '{"enabledPlugins": {"baton@batonpass": false}}'
      const pluginIn = () => states({}, place).flatMap(([scope, hasPlugin]) => (hasPlugin === true ? [scope] : []))
      put(place.settings, on)
      expect(pluginIn()).toEqual(['user'])
      put(join(place.project, '.claude', 'settings.json'), off)
      expect(pluginIn()).toEqual([])
      put(join(place.project, '.claude', 'settings.local.json'), on)
      expect(pluginIn()).toEqual(['local'])
    },
  )

  it('warns of what the plugin has doubled, and says how to end it', async () => {
    const place = stage()
    await installed(place.change())
    await installed(place.change({ scope: 'project' }))
    put(join(place.project, '.claude', 'settings.local.json'), '{"enabledPlugins": {"baton@batonpass": true}}')
    const { remarks } = await installed(place.change())
    expect(remarks).toContainEqual(
      expect.stringMatching(/told twice: run "[^"]+ --scope user" and "[^"]+ --scope project"/),
    )
    for (const scope of ['user', 'project'] as const) await uninstalled(place.change({ scope }))
    expect((await installed(place.change())).remarks).toEqual([expect.stringContaining('only the status line')])
  })

  it('says the same of Codex', async () => {
    const place = stage()
    const { wanted, place: where } = place.change({ isCodex: true })
    const looked = () => lookAtCodex(where, wanted).map(({ part, state }) => `${part} ${state}`)
    expect(looked()).toEqual(['hooks absent', 'mcp absent'])
    await installed(place.change({ isCodex: true }))
    expect(looked()).toEqual(['hooks installed', 'mcp installed'])
    put(`${place.home}/.codex/config.toml`, '[mcp_servers.baton]\nurl = "x"\n')
    expect(looked()).toEqual(['hooks installed', 'mcp foreign'])
  })
})
