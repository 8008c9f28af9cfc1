import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Installation, install, uninstall, wantedBy } from '../../src/main/installer.ts'
import { need } from './hands.ts'

interface Hook {
  readonly command: string
}

interface Settings {
  readonly hooks: Record<string, { readonly hooks: readonly Hook[] }[]>
  readonly statusLine?: Hook
}

/** The settings of a person who works with Claude Code, in a home of their own. */
export class PersonsSettings {
  readonly #isBlind: boolean
  #home: string | undefined
  /** The bytes before anything was installed, and after the first time. */
  before = ''
  installedFirst = ''
  refusal: { readonly code: string; readonly message: string } | undefined

  constructor(isBlind: boolean) {
    this.#isBlind = isBlind
  }

  close(): void {
    if (this.#home !== undefined) rmSync(this.#home, { recursive: true, force: true, maxRetries: 10 })
  }

  has(text: string): void {
    this.#home = mkdtempSync(join(tmpdir(), 'settings-'))
    this.before = text
    this.#write(text)
  }

  async install(): Promise<void> {
    const done = await install(this.#installation())
    this.refusal = done.ok ? undefined : done.error
    this.installedFirst ||= this.text
  }

  async uninstall(): Promise<void> {
    await uninstall(this.#installation())
  }

  adds(command: string): void {
    const settings = JSON.parse(readFileSync(this.#file, 'utf8')) as Settings
    const added = [...(settings.hooks.Stop ?? []), { hooks: [{ type: 'command', command }] }]
    this.#write(JSON.stringify({ ...settings, hooks: { ...settings.hooks, Stop: added } }, null, 4))
  }

  /** The file as it is now. */
  get text(): string {
    return this.#isBlind ? '' : readFileSync(this.#file, 'utf8')
  }

  /** The commands of every hook in it. */
  get commands(): readonly string[] {
    const { hooks } = JSON.parse(this.text) as Settings
    return Object.values(hooks).flatMap((groups) =>
      groups.flatMap((group) => group.hooks.map(({ command }) => command)),
    )
  }

  get statusLine(): string | undefined {
    return (JSON.parse(this.text) as Settings).statusLine?.command
  }

  get #file(): string {
    return join(need(this.#home, 'a person'), '.claude', 'settings.json')
  }

  #write(text: string): void {
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, text)
  }

  #installation(): Installation {
    const home = need(this.#home, 'a person')
    const environment = { HOME: home }
    const wanted = wantedBy({ environment, command: 'baton', without: [] })
    if (!wanted.ok) throw new Error(wanted.error)
    return {
      agent: { name: 'claude', scope: 'user' },
      place: { environment, workingFolder: home },
      wanted: wanted.value,
      folder: join(home, '.batonpass'),
      isDryRun: false,
    }
  }
}
