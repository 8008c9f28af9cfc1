import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { handoffCommand, isHandoffCommand } from '../../src/adapters/install/handoff-command.ts'
import { CLAUDE_HOOKS } from '../../src/agent-settings.ts'
import { CHECKPOINT_SECTIONS } from '../../src/domain/checkpoint/checkpoint-section.ts'
import { lookAtClaude, lookAtCodex } from '../../src/installing.ts'
import { got, installed, put, stage } from './stage.ts'

const text = (file: string): string => readFileSync(file, 'utf8')
const json = (file: string): unknown => JSON.parse(text(file))
const COMMAND = text('plugin/commands/handoff.md')

describe('the plugin', () => {
  it('names the same hooks and the same server as an installation', async () => {
    const { home, settings, change } = stage()
    await installed(change())
    const { hooks } = JSON.parse(got(settings) ?? '') as { hooks: unknown }
    expect(json('plugin/hooks/hooks.json')).toEqual({ hooks })
    expect(Object.keys((json('plugin/hooks/hooks.json') as { hooks: object }).hooks)).toEqual(Object.keys(CLAUDE_HOOKS))
    expect(json('plugin/.mcp.json')).toEqual(JSON.parse(got(`${home}/.claude.json`) ?? ''))
    expect(got(`${home}/.claude/commands/baton/handoff.md`)).toBe(COMMAND)
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
    const { wanted, place: where } = place.change(more)
    return lookAtClaude(where, wanted).map(({ scope, parts, hasPlugin }) => [
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
    expect(states({}, place)[0]).toEqual(['user', true, 'absent', 'absent', 'absent', 'absent'])
    const { remarks } = await installed(place.change())
    expect(remarks).toEqual([expect.stringContaining('only the status line')])
    expect(states({}, place)[0]).toEqual(['user', true, 'absent', 'installed', 'absent', 'absent'])
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
