import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { program } from '../support/bundle.ts'

const BATON = await program(resolve('src/adapters/cli/main.ts'))

interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** `baton serve`, until it ends by itself. */
const serving = (folder: string, ...flags: readonly string[]) => {
  const { BATONPASS_DATABASE_URL: _, ...env } = process.env
  const words = [BATON, 'serve', '--data-dir', folder, ...flags]
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  const spoken = new Set<() => void>()
  child.stdout.on('data', (part: Buffer) => {
    out += part.toString()
    for (const look of spoken) look()
  })
  child.stderr.on('data', (part: Buffer) => {
    err += part.toString()
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (status) => resolve({ status, out, err })))
  const listening = new Promise<void>((resolve) => {
    spoken.add(() => {
      if (out.includes('\n')) resolve()
    })
  })
  return { ended, listening, end: () => child.kill('SIGTERM') }
}

describe('baton serve', () => {
  it('is one of many that start at once; the others end well, and it ends in good order', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'one-'))
    const all = Array.from({ length: 20 }, () => serving(folder, '--json', '--started-by-hook'))
    const winner = await Promise.race(all.map(async (one) => one.listening.then(() => one)))
    const others = await Promise.all(all.filter((one) => one !== winner).map(({ ended }) => ended))
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 0))
    expect(others.filter(({ out }) => out !== '')).toEqual([])
    const running = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8'))
    const second = await serving(folder).ended
    expect(second.status).toBe(3)
    expect(second.err).toContain(`pid ${running.pid} on ${running.socket}`)
    winner.end()
    const { status, out } = await winner.ended
    expect(status).toBe(0)
    expect(running.address).toBeNull()
    const socket = join(realpathSync(folder), running.socket)
    expect(JSON.parse(out)).toEqual({ socket, port: null, pid: running.pid })
    expect(existsSync(socket)).toBe(false)
    expect(existsSync(join(folder, 'service.json'))).toBe(false)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
})
