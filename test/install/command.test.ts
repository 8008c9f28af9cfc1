import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { INSTALLED_SERVER } from '../../src/domain/kernel/tool-servers.ts'
import { batonWith } from '../cli/terminal.ts'
import { got, put, stage } from './stage.ts'

const OWN = '{\n  "model": "opus"\n}\n'
const AS = ['--command', 'baton'] as const

describe('baton claude and baton codex', () => {
  it('install, say what is there, and uninstall', async () => {
    const { home, settings } = stage()
    const baton = batonWith({ HOME: home, PATH: '' })
    put(settings, OWN)
    const done = await baton('claude', 'install', ...AS)
    expect(done).toEqual({
      code: 0,
      err: '',
      out: `changed   ${settings}\ncreated   ${join(home, '.claude.json')}\ncreated   ${join(home, '.claude/commands/baton/handoff.md')}`,
    })
    const { out } = await baton('claude', 'status', ...AS)
    expect(out).toContain(`user\n  hooks           installed   ${settings}\n`)
    expect(out).toContain(`  MCP server      installed   ${join(home, '.claude.json')}\n`)
    expect(JSON.parse((await baton('claude', 'status', '--json')).out)).toMatchObject({
      name: 'claude',
      isTwice: false,
    })
    expect((await baton('claude', 'uninstall')).code).toBe(0)
    expect(got(settings)).toBe(OWN)
  })

  it('show the difference dry, as text and as JSON', async () => {
    const { home, settings } = stage()
    const baton = batonWith({ HOME: home, PATH: '' })
    put(settings, OWN)
    const dry = await baton('claude', 'install', '--dry-run', '--no-mcp', '--no-command', ...AS)
    expect(dry.out).toMatch(
      /^--- .*\n\+\+\+ .*\n@@ -1,3 \+1,\d+ @@\n \{\n- {2}"model": "opus"\n\+ {2}"model": "opus",\n/,
    )
    expect(dry.err).toContain(`would be changed  ${settings}`)
    const json = await baton('claude', 'install', '--dry-run', '--json', '--no-status-line', ...AS)
    expect(JSON.parse(json.out)).toMatchObject({
      name: 'claude',
      scope: 'user',
      isDryRun: true,
      files: [{ file: settings, change: 'changed' }, { change: 'created' }, { change: 'created' }],
    })
    expect(json.out).not.toContain('hook statusline')
    expect(got(settings)).toBe(OWN)
  })

  it('refuse with a sentence and status 3, and say what they do not understand with 2', async () => {
    const { home, settings } = stage()
    const baton = batonWith({ HOME: home, PATH: '' })
    put(settings, '{ // mine\n}')
    expect(await baton('claude', 'install', ...AS)).toEqual({
      code: 3,
      out: '',
      err: `baton: ${settings} has a comment, which the runtime does not take there: remove it (line 1, column 3). Nothing was changed. (settings.malformed)`,
    })
    for (const words of [
      ['--scope', 'world', ...AS],
      ['--command', 'rm -rf /'],
    ])
      expect((await baton('claude', 'install', ...words)).code).toBe(2)
  })

  it('do the same for Codex, and name a folder of the service where one is given', async () => {
    const { home } = stage()
    const baton = batonWith({ HOME: home, PATH: '', CODEX_HOME: join(home, 'cx') })
    const folder = join(home, 'my data')
    const done = await baton('codex', 'install', '--data-dir', folder, ...AS)
    expect(done.code).toBe(0)
    expect(done.err).toContain('trusted')
    expect(got(join(home, 'cx', 'hooks.json'))).toContain(`baton hook stop --runtime codex --data-dir '${folder}'`)
    expect(got(join(home, 'cx', 'config.toml'))).toContain(`args = ["mcp", "--data-dir", "${folder}"]`)
    expect((await baton('codex', 'status', '--data-dir', folder, ...AS)).out).toMatch(
      /hooks +installed.*\n +MCP server +installed/,
    )
    expect((await baton('codex', 'uninstall', '--data-dir', folder)).code).toBe(0)
    expect(got(join(home, 'cx', 'hooks.json'))).toBeUndefined()
  })

  it('say which parts the plugin brings, and which scopes have the hooks', async () => {
    const { home, settings } = stage()
    const baton = batonWith({ HOME: home, PATH: '' })
    put(settings, '{"enabledPlugins": {"baton@batonpass": true}}')
    const plugin = await baton('claude', 'status', ...AS)
    expect(plugin.out).toContain(
      `user (the plugin is switched on here)\n  hooks           plugin      ${settings}: switched on here, brings it\n`,
    )
    expect(plugin.out).toMatch(/MCP server +plugin .*\n +\/baton:handoff +plugin /)
    expect([plugin.code, plugin.err]).toEqual([0, ''])
    put(settings, '{}')
    for (const scope of ['user', 'local']) await baton('claude', 'install', '--scope', scope, ...AS)
    const both = await baton('claude', 'status', ...AS)
    expect(both.err).toContain('The hooks are in the scopes user and local')
    put(settings, (got(settings) ?? '').replace('{', '{"enabledPlugins": {"baton@batonpass": true},'))
    const twice = await baton('claude', 'status', ...AS)
    expect(twice.err).toMatch(/both name the hooks: run "[^"]+ --scope user" and "[^"]+ --scope local"/)
    expect((await baton('claude', 'install', ...AS)).err).toContain('told twice')
    // The working folder is that of other tests too.
    await baton('claude', 'uninstall', '--scope', 'local')
    expect(existsSync('.claude')).toBe(false)
  })
})

describe('the guides', () => {
  it('name the MCP server as the installer does', () => {
    const files = ['README.md', 'plugin/README.md', ...readdirSync('docs').map((name) => join('docs', name))]
    const texts = files.filter((file) => file.endsWith('.md')).map((file) => readFileSync(file, 'utf8'))
    const written = /mcp add(?: --scope \w+)? ([\w-]+) --|\[mcp_servers\.([\w-]+)\]|"mcpServers": \{ "([\w-]+)"/g
    const names = texts.flatMap((text) => [...text.matchAll(written)].map(([, ...found]) => found.find(Boolean)))
    expect(names.length).toBeGreaterThanOrEqual(3)
    expect(new Set(names)).toEqual(new Set([INSTALLED_SERVER]))
  })
})
