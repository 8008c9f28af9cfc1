import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { carryOutAll } from '../../src/adapters/install/carry-out.ts'
import { settingsEdit } from '../../src/adapters/install/edits.ts'
import { type FileEdit, planInstall } from '../../src/adapters/install/file-edit.ts'
import { Receipts } from '../../src/adapters/install/receipts.ts'
import { wrong } from '../../src/adapters/install/refusal.ts'
import { CLAUDE_SCOPES, type ClaudeScope, lookAtClaude } from '../../src/main/installer.ts'
import { got, installed, put, type Stage, stage, uninstalled } from './stage.ts'

/** Every file and folder below a folder, with its bytes. The notes of the installer are not looked at. */
const everythingIn = (folder: string): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {}
  const look = (at: string): void => {
    for (const name of readdirSync(at)) {
      const path = join(at, name)
      if (name === '.batonpass') continue
      const isFolder = statSync(path).isDirectory()
      found[relative(folder, path)] = isFolder ? 'a folder' : readFileSync(path, 'utf8')
      if (isFolder) look(path)
    }
  }
  look(folder)
  return found
}

/** Homes and projects as people have them before anything of ours is there. */
const BEGINNINGS: Readonly<Record<string, (stage: Stage) => void>> = {
  'nothing at all': () => {},
  'a repository and files of their own': ({ home, project, settings }) => {
    execFileSync('git', ['init', '--quiet', project], { env: { ...process.env, HOME: home } })
    put(join(project, '.git', 'info', 'exclude'), '# mine\n*.tmp')
    put(settings, '{\n\t"model": "opus"\n}\n')
    put(join(home, '.claude.json'), '{"numStartups": 7}')
    put(join(project, '.claude', 'settings.json'), '{"statusLine": {"type": "command", "command": "pwd"}}')
    put(join(project, '.claude', 'settings.local.json'), '{ "permissions": { "allow": [] } }')
    put(join(project, '.mcp.json'), '{"mcpServers": {}}\n')
  },
}

const ORDERS: readonly (readonly ClaudeScope[])[] = [
  ['user', 'project', 'local'],
  ['user', 'local', 'project'],
  ['project', 'user', 'local'],
  ['project', 'local', 'user'],
  ['local', 'user', 'project'],
  ['local', 'project', 'user'],
]

/** The scopes in which an installation is whole. */
const wholeIn = ({ change }: Stage): readonly ClaudeScope[] => {
  const { wanted, place, folder } = change()
  return lookAtClaude(place, wanted, folder).flatMap(({ scope, parts }) =>
    parts.every(({ state }) => state === 'installed') ? [scope] : [],
  )
}

describe.each(Object.entries(BEGINNINGS))('scopes, with %s before', (_, begin) => {
  it.each(CLAUDE_SCOPES.flatMap((one) => CLAUDE_SCOPES.map((other) => [one, other] as const)))(
    'installed as %s and taken out as %s',
    async (one, other) => {
      const place = stage()
      begin(place)
      const before = everythingIn(place.home)
      await installed(place.change({ scope: one }))
      const after = everythingIn(place.home)
      expect(wholeIn(place)).toEqual([one])
      await uninstalled(place.change({ scope: other }))
      expect(everythingIn(place.home)).toEqual(one === other ? before : after)
      await uninstalled(place.change({ scope: one }))
      expect(everythingIn(place.home)).toEqual(before)
    },
  )

  it.each(
    // What is taken out first matters most; every order of putting in is tried with each of them.
    ORDERS.flatMap((order) => ORDERS.filter((_, at) => at % 2 === 0).map((back) => [order, back] as const)),
  )('installed as %j and taken out as %j, each for itself', async (order, back) => {
    const place = stage()
    begin(place)
    const before = everythingIn(place.home)
    for (const scope of order) await installed(place.change({ scope }))
    const left = new Set<ClaudeScope>(CLAUDE_SCOPES)
    expect(wholeIn(place)).toEqual([...left])
    for (const scope of back) {
      await uninstalled(place.change({ scope }))
      left.delete(scope)
      expect(wholeIn(place)).toEqual([...left])
    }
    expect(everythingIn(place.home)).toEqual(before)
  })
})

describe('scopes that share a file', () => {
  it('say for whom it stays', async () => {
    const { project, change } = stage()
    const file = join(project, '.claude', 'commands', 'baton', 'handoff.md')
    await installed(change({ scope: 'project' }))
    await installed(change({ scope: 'local' }))
    const { remarks } = await uninstalled(change({ scope: 'local' }))
    expect(remarks).toEqual([expect.stringMatching(/handoff\.md stay.*scope project .*uninstall --scope project/)])
    expect(got(file)).toContain('baton handoff')
  })

  it('leave the command of a colleague, which came with the repository, as it is', async () => {
    const colleague = stage()
    await installed(colleague.change({ scope: 'project', command: '/theirs/baton' }))
    const { home, project, change } = stage()
    const text = got(join(colleague.project, '.claude', 'commands', 'baton', 'handoff.md')) ?? ''
    const file = put(join(project, '.claude', 'commands', 'baton', 'handoff.md'), text)
    const before = everythingIn(home)
    await installed(change({ scope: 'local' }))
    expect(got(file)).toBe(text)
    await uninstalled(change({ scope: 'local' }))
    expect(everythingIn(home)).toEqual(before)
  })

  it('are two folders of one repository: its server stays for the other', async () => {
    const { home, project, change } = stage()
    mkdirSync(join(home, '.git', 'info'), { recursive: true })
    const other = join(home, 'other')
    mkdirSync(other)
    const there = (workingFolder: string) => {
      const one = change({ scope: 'local' })
      return { ...one, place: { ...one.place, workingFolder } }
    }
    const before = everythingIn(home)
    await installed(there(project))
    await installed(there(other))
    await uninstalled(there(project))
    expect(got(join(home, '.claude.json'))).toContain('baton')
    expect(got(join(other, '.claude', 'settings.local.json'))).toContain('hook stop')
    await uninstalled(there(other))
    expect(everythingIn(home)).toEqual(before)
  })

  it('are user and project in the home folder itself', async () => {
    const { home, settings, change } = stage()
    const at = (scope: ClaudeScope) => {
      const one = change({ scope })
      return { ...one, place: { ...one.place, workingFolder: home } }
    }
    const before = everythingIn(home)
    await installed(at('user'))
    await uninstalled(at('project'))
    expect(got(settings)).toContain('hook stop')
    await installed(at('project'))
    await uninstalled(at('user'))
    expect(got(settings)).toContain('hook stop')
    await uninstalled(at('project'))
    expect(everythingIn(home)).toEqual(before)
  })

  it('keep the note of the first where the second is undone', async () => {
    const { home } = stage()
    const [file, other] = [put(join(home, 'shared.json'), '{}'), put(join(home, 'other.json'), '{}')]
    const receipts = new Receipts(join(home, '.batonpass'))
    const hooks = { program: 'baton', hooks: { Stop: 'baton hook stop' } }
    const edit = (scope: string): FileEdit => ({
      ...settingsEdit({ path: file, hooks }),
      holder: { scope, folder: home },
    })
    await carryOutAll([edit('one')], planInstall, receipts)
    const note = receipts.read(file)
    expect(note?.holders).toEqual([{ scope: 'one', folder: home }])
    let times = 0
    const never: FileEdit = {
      ...settingsEdit({ path: other, hooks }),
      install: () => {
        times += 1
        return times === 1 ? { ok: true, value: { text: '{"a": 1}' } } : wrong('is in the way')
      },
    }
    const done = await carryOutAll([edit('two'), never], planInstall, receipts)
    expect(done.ok).toBe(false)
    expect(receipts.read(file)).toEqual(note)
  })
})
