import { spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { program } from '../support/bundle.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { PLANTED } from './planted.ts'

const KEYS = Object.values(PLANTED)
const OF_ENVIRONMENT = 'only-this-machine-knows-42'

/** Every secret that is planted. */
export const SECRETS: readonly string[] = [...KEYS.map(({ secret }) => secret), OF_ENVIRONMENT]

/** A text with all of them in it. */
export const ALL: string = [...KEYS.map((key) => key.text), `the token ${OF_ENVIRONMENT}`].join('\n')

/** A key of several lines also counts where only its second line is left. */
const TRACES = SECRETS.flatMap((secret) => [secret, ...(secret.includes('\n') ? [secret.split('\n')[1] ?? ''] : [])])

/** Where secrets are found in a text, by the beginning of each. */
export const secretsIn = (where: string, said: string): readonly string[] => {
  const looked = [said, said.replaceAll('\\n', '\n')]
  return TRACES.filter((trace) => looked.some((one) => one.includes(trace))).map(
    (trace) => `${where}: ${trace.slice(0, 24)}`,
  )
}

/** A command that ended. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** How a command is run. */
export interface Running {
  readonly signal?: AbortSignal
  /** Is given each line of a result. */
  readonly onLine?: (line: string) => void
}

/**
 * One store on a server, one private folder, one workspace, a server that webhooks are sent to, and all that anybody says.
 * Commands run in this process: each would take a second to start.
 */
export class SecretsStage {
  readonly home: string = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-secrets-')))
  readonly folder: string = join(this.home, '.batonpass')
  readonly workspace: string = join(this.home, 'work')
  readonly config: string = join(this.home, 'batonpass.json')
  /** Told by shell hooks, which write their payload down. */
  readonly told: string = join(this.home, 'told.txt')
  /** Every output, each after the command line that it is of. */
  readonly outputs: string[] = []
  /** The bodies of the requests of web hooks. */
  readonly requests: string[] = []
  readonly database: string
  readonly #server: Server
  readonly #hook: string

  private constructor(database: string, server: Server, hook: string) {
    this.database = database
    this.#server = server
    this.#hook = hook
    mkdirSync(join(this.workspace, '.git'), { recursive: true })
    mkdirSync(this.folder, { mode: 0o700 })
    writeFileSync(join(this.home, 'database'), database, { mode: 0o600 })
    writeFileSync(join(this.home, 'keys.json'), JSON.stringify([...KEYS.map((key) => key.text), OF_ENVIRONMENT]))
    writeFileSync(join(this.home, 'keys.txt'), ALL)
    this.#writeConfiguration()
  }

  static async open(): Promise<SecretsStage> {
    const database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    const server = createServer()
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const stage = new SecretsStage(database, server, await program(resolve('test/support/hook-program.ts')))
    server.on('request', async (request, response) => {
      stage.requests.push(`${request.url} ${await text(request)}`)
      response.end(ALL)
    })
    return stage
  }

  close(): void {
    this.#server.close()
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 })
  }

  get environment(): Readonly<Record<string, string>> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.home,
      BATONPASS_DATA_DIR: this.folder,
      BATONPASS_HOOK_BUDGET_MS: '300000',
      ACME_DEPLOY_TOKEN: OF_ENVIRONMENT,
    }
  }

  /** The flags that name the store: an agent's settings hold no address. */
  get store(): readonly string[] {
    return ['--database-file', join(this.home, 'database')]
  }

  /** An agent that prints every secret, for `--command`. */
  agent(script = ''): string {
    const file = fileURLToPath(new URL('./leaky-agent.mjs', import.meta.url))
    return `exec "${process.execPath}" "${file}" "${join(this.home, 'keys.json')}" ${script}`
  }

  /** Runs a command to its end, and keeps all that it says. */
  async baton(args: readonly string[], { signal, onLine }: Running = {}): Promise<Ended> {
    const [out, err]: [string[], string[]] = [[], []]
    const take = (line: string): void => {
      out.push(line)
      onLine?.(line)
    }
    const code = await runCli(args, {
      out: { line: take },
      err: { line: (line) => void err.push(line) },
      version: '0.0.0',
      environment: this.environment,
      ...(signal && { interruption: () => signal }),
    })
    const ended = { code, out: out.join('\n'), err: err.join('\n') }
    this.outputs.push(`$ baton ${args.slice(0, 2).join(' ')}\n${ended.out}\n${ended.err}`)
    return ended
  }

  /** Calls a hook as the agent of a terminal does: in a process of its own. */
  async hook(event: string, input: object): Promise<string> {
    const args = [this.#hook, 'hook', event, '--data-dir', this.folder]
    const child = spawn(process.execPath, args, { env: this.environment, cwd: this.workspace })
    child.stdin.end(JSON.stringify(input))
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    this.outputs.push(`$ baton hook ${event}\n${out}\n${err}`)
    return out
  }

  /** Where secrets are in what was said to anybody, in the files that we write, and in the tables. */
  async leaks(): Promise<readonly string[]> {
    const tables = await this.tables()
    return [
      ...this.outputs.flatMap((said, index) => secretsIn(`output ${index} ${said.split('\n')[0]}`, said)),
      ...this.requests.flatMap((said) => secretsIn(`request ${said.split(' ')[0]}`, said)),
      ...filesIn(this.folder).flatMap((file) => secretsIn(file, contentOf(file))),
      ...filesIn(this.workspace).flatMap((file) => secretsIn(file, contentOf(file))),
      ...secretsIn(this.told, contentOf(this.told)),
      ...Object.entries(tables).flatMap(([name, rows]) => secretsIn(name, rows)),
    ]
  }

  /** Every table with all of its rows as text. */
  async tables(): Promise<Readonly<Record<string, string>>> {
    const client = new pg.Client({ connectionString: this.database })
    await client.connect()
    try {
      const { rows: names } = await client.query<{ name: string }>(
        "select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')",
      )
      const found: Record<string, string> = {}
      for (const { name } of names) {
        const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`)
        found[name] = rows.map(({ row }) => row.replaceAll('""', '"').replaceAll('\\\\', '\\')).join('\n')
      }
      return found
    } finally {
      await client.end()
    }
  }

  #writeConfiguration(): void {
    const { port } = this.#server.address() as AddressInfo
    const note = (name: string) => ({ name, type: 'shell', command: `cat >> "${this.told}"; echo '{"continue":true}'` })
    const leak = `cat "${join(this.home, 'keys.txt')}"`
    const leaks = { name: 'leaks', type: 'shell', command: `${leak}; ${leak} >&2` }
    const web = (type: string) => ({ name: type, type, url: `http://127.0.0.1:${port}/${type}` })
    const hooks = {
      on_session_start: [note('start'), leaks],
      after_run: [note('after'), web('webhook'), { ...leaks, name: 'fails', command: `${leak} >&2; exit 3` }],
      on_error: [note('error'), web('webhook'), web('slack'), web('discord')],
      after_handoff: [note('handoff'), web('webhook')],
    }
    writeFileSync(this.config, JSON.stringify({ hooks }))
  }
}

/** Every file below a folder. */
export const filesIn = (path: string): readonly string[] =>
  readdirSync(path).flatMap((name) => {
    const inside = join(path, name)
    return statSync(inside, { throwIfNoEntry: false })?.isDirectory() === true ? filesIn(inside) : [inside]
  })

const contentOf = (file: string): string => {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return '' // a socket
  return readFileSync(file, 'utf8')
}
