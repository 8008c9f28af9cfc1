import { mkdirSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { carryOutAll } from '../../src/adapters/install/carry-out.ts'
import { settingsEdit } from '../../src/adapters/install/edits.ts'
import { type FileEdit, planInstall } from '../../src/adapters/install/file-edit.ts'
import { ownProgram } from '../../src/adapters/install/own-program.ts'
import { Receipts } from '../../src/adapters/install/receipts.ts'
import { readSettingsFile, replaceFile } from '../../src/adapters/install/settings-file.ts'
import { install } from '../../src/main/installer.ts'
import { got, installed, put, stage, uninstalled } from './stage.ts'

const json = (file: string): unknown => JSON.parse(got(file) ?? 'null')
const SERVER = { type: 'stdio', command: 'baton', args: ['mcp'] }

describe('the MCP server in Claude Code', () => {
  it('stands in the file that Claude keeps for the person, beside all that is in it', async () => {
    const { home, change } = stage()
    const file = put(join(home, '.claude.json'), '{\n  "numStartups": 7,\n  "projects": {}\n}', 0o600)
    const before = got(file)
    await installed(change())
    expect(json(file)).toEqual({ numStartups: 7, projects: {}, mcpServers: { baton: SERVER } })
    writeFileSync(file, (got(file) ?? '').replace('7', '8'))
    await uninstalled(change())
    expect(got(file)).toBe(before?.replace('7', '8'))
  })

  it('stands under the root of the repository for one person, and in .mcp.json for everybody', async () => {
    const { home, project, change } = stage()
    mkdirSync(join(home, '.git'))
    await installed(change({ scope: 'local' }))
    expect(json(join(home, '.claude.json'))).toEqual({ projects: { [home]: { mcpServers: { baton: SERVER } } } })
    expect(got(join(project, '.claude', 'settings.local.json'))).toContain('baton hook stop')
    await uninstalled(change({ scope: 'local' }))
    expect(got(join(home, '.claude.json'))).toBeUndefined()
    await installed(change({ scope: 'project' }))
    expect(json(join(project, '.mcp.json'))).toEqual({ mcpServers: { baton: SERVER } })
    expect(got(join(project, '.claude', 'settings.json'))).toContain('baton hook stop')
    expect(got(join(home, '.claude.json'))).toBeUndefined()
  })

  it('is elsewhere where CLAUDE_CONFIG_DIR says so', async () => {
    const { home, change } = stage()
    const folder = join(home, 'elsewhere')
    await installed(change({ environment: { CLAUDE_CONFIG_DIR: folder } }))
    expect(json(join(folder, '.claude.json'))).toEqual({ mcpServers: { baton: SERVER } })
    expect(got(join(folder, 'settings.json'))).toContain('baton hook stop')
    expect(got(join(folder, 'commands', 'baton', 'handoff.md'))).toContain('$ARGUMENTS')
    expect(got(join(home, '.claude.json'))).toBeUndefined()
  })

  it('of our name that is somebody else’s is refused, and nothing at all is changed', async () => {
    const { home, settings, change } = stage()
    const file = put(
      join(home, '.claude.json'),
      '{"mcpServers": {"baton": {"type": "http", "url": "https://example.org"}}}',
    )
    const done = await install(change())
    expect(done).toMatchObject({ ok: false, error: { code: 'settings.foreign_entry', file } })
    expect(got(settings)).toBeUndefined()
    await installed(change({ without: ['mcp'] }))
    expect(got(file)).toContain('example.org')
    expect(got(settings)).toContain('baton hook stop')
  })

  it('waits for the lock of Claude Code, and takes over one that is dead', async () => {
    const { home, change } = stage()
    const lock = join(home, '.claude.json.lock')
    mkdirSync(lock)
    const installing = installed(change())
    expect(got(join(home, '.claude.json'))).toBeUndefined()
    rmdirSync(lock)
    await installing
    expect(got(join(home, '.claude.json'))).toContain('baton')
    mkdirSync(lock)
    utimesSync(lock, new Date(0), new Date(0))
    await uninstalled(change())
    expect(got(join(home, '.claude.json'))).toBeUndefined()
    expect(got(lock)).toBeUndefined()
  })
})

describe('the file of /baton:handoff', () => {
  it('names the program that was chosen, follows a new one, and goes', async () => {
    const { home, change } = stage()
    const file = join(home, '.claude', 'commands', 'baton', 'handoff.md')
    await installed(change({ command: '/opt/baton' }))
    expect(got(file)).toContain('run `/opt/baton handoff -`')
    await installed(change())
    expect(got(file)).toContain('run `baton handoff -`')
    await uninstalled(change())
    expect(got(file)).toBeUndefined()
  })

  it('that a person changed or wrote is theirs', async () => {
    const { home, settings, change } = stage()
    const file = put(join(home, '.claude', 'commands', 'baton', 'handoff.md'), 'mine')
    expect(await install(change())).toMatchObject({ ok: false, error: { code: 'settings.foreign_entry', file } })
    expect(got(settings)).toBeUndefined()
    await installed(change({ without: ['command'] }))
    const { remarks } = await uninstalled(change())
    expect(got(file)).toBe('mine')
    expect(remarks).toEqual([expect.stringContaining('stays')])
  })
})

describe('a file that somebody else writes to', () => {
  it('is noticed right before it would be replaced', () => {
    const { settings } = stage()
    put(settings, '{"a": 1}')
    const read = readSettingsFile(settings)
    if (!read.ok) throw new Error(read.error.message)
    writeFileSync(settings, '{"a": 2}')
    expect(replaceFile(read.value, Buffer.from('{}'))).toMatchObject({
      ok: false,
      error: { code: 'settings.changed_meanwhile' },
    })
    expect(replaceFile(read.value, undefined)).toMatchObject({
      ok: false,
      error: { code: 'settings.changed_meanwhile' },
    })
    expect(got(settings)).toBe('{"a": 2}')
  })

  const meddled = (path: string, meddle: (time: number) => void): FileEdit => {
    const edit = settingsEdit({ path, hooks: { program: 'baton', hooks: { Stop: 'baton hook stop' } } })
    let times = 0
    return {
      ...edit,
      install: (text, past) => {
        const done = edit.install(text, past)
        times += 1
        meddle(times)
        return done
      },
    }
  }

  it('is read again, and both changes are in it', async () => {
    const { home, settings } = stage()
    put(settings, '{"a": 1}')
    const edit = meddled(settings, (time) => void (time === 2 && writeFileSync(settings, '{"a": 2}')))
    const done = await carryOutAll([edit], planInstall, new Receipts(join(home, '.batonpass')))
    expect(done.ok).toBe(true)
    expect(json(settings)).toMatchObject({ a: 2, hooks: { Stop: [{}] } })
  })

  it('all the time is given up, and what was done before is undone', async () => {
    const { home, settings } = stage()
    const first = put(join(home, 'first.json'), '{}')
    put(settings, '{}')
    const edit = meddled(settings, (time) => writeFileSync(settings, `{"a": ${time}}`))
    const done = await carryOutAll(
      [settingsEdit({ path: first, hooks: { program: 'baton', hooks: { Stop: 'baton hook stop' } } }), edit],
      planInstall,
      new Receipts(join(home, '.batonpass')),
    )
    expect(done).toMatchObject({ ok: false, error: { code: 'settings.changed_meanwhile' } })
    expect(got(first)).toBe('{}')
    expect(got(settings)).toMatch(/^\{"a": \d\}$/)
  })
})

describe('Codex', () => {
  const CONFIG = 'model = "gpt-5.5"\n\n[projects."/a"]\ntrust_level = "trusted"\n'

  it('gets hooks and the MCP server, once, and is given back', async () => {
    const { home, change } = stage()
    const config = put(join(home, '.codex', 'config.toml'), CONFIG)
    const wanted = change({ isCodex: true })
    const { remarks } = await installed(wanted)
    expect(remarks.join(' ')).toMatch(/trusted.*no status line/)
    expect(json(join(home, '.codex', 'hooks.json'))).toMatchObject({
      hooks: { Stop: [{ hooks: [{ command: 'baton hook stop --runtime codex' }] }] },
    })
    expect(got(config)).toBe(
      `${CONFIG}\n# Added by "baton codex install". "baton codex uninstall" removes it.\n[mcp_servers.baton]\ncommand = "baton"\nargs = ["mcp"]\n`,
    )
    const after = got(config)
    expect((await installed(wanted)).files.map(({ change }) => change)).toEqual(['unchanged', 'unchanged'])
    expect(got(config)).toBe(after)
    writeFileSync(config, `${after}\n[mcp_servers.baton.tools.handoff]\napproval_mode = "approve"\n\n[tui]\nx = 1\n`)
    await uninstalled(wanted)
    expect(got(config)).toBe(`${CONFIG}\n\n[tui]\nx = 1\n`)
    expect(got(join(home, '.codex', 'hooks.json'))).toBeUndefined()
  })

  it.each([
    '[mcp_servers.baton]\ncommand = "other"\nargs = ["serve"]\n',
    '[mcp_servers."baton"]\nurl = "https://example.org"\n',
    'mcp_servers.baton.command = "x"\n',
    'mcp_servers = { baton = { command = "x" } }\n',
    '[mcp_servers]\nbaton = { command = "x" }\n',
    '[mcp_servers.baton.env]\nA = "b"\n',
  ])('with a server of our name that is not ours is refused: %j', async (text) => {
    const { home, change } = stage()
    const config = put(join(home, '.codex', 'config.toml'), text)
    expect(await install(change({ isCodex: true }))).toMatchObject({
      ok: false,
      error: { code: 'settings.foreign_entry', file: config },
    })
    expect(got(config)).toBe(text)
    expect(got(join(home, '.codex', 'hooks.json'))).toBeUndefined()
  })
})

describe('the program in the settings', () => {
  const script = new URL(import.meta.url).pathname
  it('is baton where that is on the PATH and ours', () => {
    const { home } = stage()
    put(
      join(home, 'bin', 'baton'),
      '#!/bin/sh\nexec node /lib/node_modules/batonpass/dist/adapters/cli/main.js "$@"\n',
      0o755,
    )
    put(join(home, 'other', 'baton'), '#!/bin/sh\necho music\n', 0o755)
    const words = (PATH: string) => {
      const program = ownProgram({ environment: { PATH }, script })
      return program.ok ? program.value.words : program.error
    }
    expect(words(`${home}/nothing:${home}/bin`)).toBe('baton')
    expect(words(`${home}/other:${home}/bin`)).toContain(script)
    expect(words('')).toMatch(/^\S*node\S* /)
    put(join(home, 'node_modules', '.bin', 'baton'), '#!/bin/sh\n# batonpass\n', 0o755)
    expect(words(`${home}/node_modules/.bin`)).toContain(script)
  })

  it.each([
    ['baton', 'baton'],
    ["'/my tools/baton'", "'/my tools/baton'"],
    ['"/my tools/node" /x/cli/main.js', "'/my tools/node' /x/cli/main.js"],
    ['npx -y batonpass', 'npx -y batonpass'],
  ])('is what the person says: %s', (named, words) => {
    expect(ownProgram({ environment: {}, script, named })).toMatchObject({ ok: true, value: { words } })
  })

  it.each(['', 'other', 'baton; rm -rf x', 'baton > /x', '$HOME/baton', '~/bin/baton'])(
    'is not anything: %j',
    (named) => {
      expect(ownProgram({ environment: {}, script, named }).ok).toBe(false)
    },
  )
})
