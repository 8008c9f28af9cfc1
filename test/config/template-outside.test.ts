import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileInside, fileText, mustLieIn } from '../../src/adapters/config/file-text.ts'
import { readConfiguration } from '../../src/entry/index.ts'
import { fileWith, problemsIn } from './checking.ts'

const SECRET = 'the key of somebody else'
const INSIDE = 'Put it into the folder of the configuration, and name it from there.'

/** A file that is none of the configuration's business. */
const somebodyElses = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-elsewhere-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  writeFileSync(join(folder, 'id_rsa'), SECRET)
  return join(folder, 'id_rsa')
}

const naming = (name: string, key = 'template_file'): string =>
  fileWith(JSON.stringify({ restart: { [key]: name } }), 'batonpass.json')

const problemOf = async (file: string): Promise<string> => {
  const problems = await problemsIn(file)
  expect(JSON.stringify(problems)).not.toContain(SECRET)
  expect(problems).toHaveLength(1)
  return `${problems[0]?.problem} | ${problems[0]?.advice}`
}

describe('a template outside the configuration’s folder', () => {
  it.each(['template_file', 'continuation_file'])('is not read through restart.%s', async (key) => {
    const name = somebodyElses()
    expect(await problemOf(naming(name, key))).toBe(`${name}: it lies outside the configuration's folder | ${INSIDE}`)
  })

  it.each(['../id_rsa', 'prompts/../../id_rsa', '..', 'prompts\\..\\..\\x', './../x', 'a/../b'])(
    'is not named by going up: %s',
    async (name) => {
      expect(await problemOf(naming(name))).toBe(`${name}: it lies outside the configuration's folder (..) | ${INSIDE}`)
    },
  )

  it.each(['/proc/self/environ', '/proc/self/cmdline', '/proc/1/environ', '/dev/zero', '/dev/stdin', '/etc/passwd'])(
    'is not a file of the system: %s',
    async (name) => {
      expect(await problemOf(naming(name))).toContain("it lies outside the configuration's folder")
    },
  )

  it.each([
    ['a file', (file: string) => file],
    ['the environment', () => '/proc/self/environ'],
    ['a device', () => '/dev/zero'],
  ])('is not reached through a link to %s', async (_, target) => {
    const configuration = naming('notes.md')
    symlinkSync(target(somebodyElses()), join(dirname(configuration), 'notes.md'))
    expect(await problemOf(configuration)).toBe(
      `notes.md: it lies outside the configuration's folder (a link leads there) | ${INSIDE}`,
    )
  })

  it('is not reached through a link in the middle, or two of them', async () => {
    const configuration = naming('prompts/id_rsa')
    const folder = dirname(configuration)
    symlinkSync(dirname(somebodyElses()), join(folder, 'far'))
    symlinkSync('far', join(folder, 'prompts'))
    expect(await problemOf(configuration)).toContain('(a link leads there)')
  })

  it('is not reached through a link that was put there after the name was checked', async () => {
    const folder = dirname(fileWith(''))
    const name = join(folder, 'notes.md')
    writeFileSync(name, 'fine')
    const file = await fileInside(folder, 'notes.md')
    expect(file).toBe(name)
    rmSync(name)
    symlinkSync(somebodyElses(), name)
    expect(await fileText(name, 'text', mustLieIn(folder, name))).toMatchObject({
      problem: "it lies outside the configuration's folder (a link leads there)",
    })
    renameSync(name, join(folder, 'gone'))
    writeFileSync(name, 'fine again')
    expect(await fileText(name, 'text', mustLieIn(folder, name))).toBe('fine again')
  })

  it('is a link to a file inside, wherever the folder itself was linked to', async () => {
    const configuration = naming('latest.md')
    writeFileSync(join(dirname(configuration), 'v2.md'), 'Where are you?')
    symlinkSync('v2.md', join(dirname(configuration), 'latest.md'))
    expect((await readConfiguration(configuration)).configuration.restart.template).toBe('Where are you?')
    const linked = join(mkdtempSync(join(tmpdir(), 'batonpass-link-')), 'here')
    onTestFinished(() => rmSync(dirname(linked), { recursive: true }))
    symlinkSync(dirname(configuration), linked)
    const { configuration: same } = await readConfiguration(join(linked, 'batonpass.json'))
    expect(same.restart.template).toBe('Where are you?')
  })

  it('is no pipe, socket or folder, and none of them is waited for', async () => {
    const pipe = naming('pipe')
    execFileSync('mkfifo', [join(dirname(pipe), 'pipe')])
    expect(await problemOf(pipe)).toMatch(/pipe: it is not a file \| Name a text file\.$/)
    const socket = naming('socket')
    const server = createServer()
    await new Promise<void>((listening) => server.listen(join(dirname(socket), 'socket'), listening))
    onTestFinished(() => void server.close())
    expect(await problemOf(socket)).toMatch(/socket: it is not a file/)
    const folder = naming('folder')
    mkdirSync(join(dirname(folder), 'folder'))
    expect(await problemOf(folder)).toMatch(/folder: it is not a file/)
    expect(await problemOf(naming('.'))).toContain("it lies outside the configuration's folder")
  })

  it('is no configuration either when it is a pipe', async () => {
    const pipe = join(dirname(fileWith('')), 'pipe.yaml')
    execFileSync('mkfifo', [pipe])
    expect(await problemOf(pipe)).toBe('it is not a file | Name a YAML or JSON file.')
  })

  it('is not a name that no file can have', async () => {
    expect(await problemOf(naming('a\0b'))).toContain('its name cannot be used')
  })

  it('is not read past its limit', async () => {
    const configuration = naming('long.md')
    writeFileSync(join(dirname(configuration), 'long.md'), 'x'.repeat(256 * 1024 + 1))
    expect(await problemOf(configuration)).toMatch(/it has 262145 bytes \| Keep it within 262144\.$/)
  })
})
