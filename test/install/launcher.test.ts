import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownHookIn } from '../../src/adapters/install/own-hook.ts'
import { type OwnProgram, ownProgram } from '../../src/adapters/install/own-program.ts'
import { put, stage } from './stage.ts'

const TOOLS = ['sh', 'cat', 'echo']

/** A home with our program in it, a PATH without Node, and the entries that an installation writes there. */
const place = () => {
  const { home } = stage()
  const bin = join(home, 'bare bin')
  mkdirSync(bin)
  for (const tool of TOOLS) symlinkSync(join('/bin', tool), join(bin, tool))
  // The program says what it was asked, and what it was given.
  const script = put(
    join(home, "it's here", 'cli', 'main.js'),
    'const { readFileSync } = require("node:fs")\nprocess.stdout.write(["ours", ...process.argv.slice(2), readFileSync(0, "utf8")].join("|"))\n',
  )
  return { home, bin, script }
}

const programOf = (script: string, PATH = ''): OwnProgram => {
  const program = ownProgram({ environment: { PATH }, script })
  if (!program.ok) throw new Error(program.error)
  return program.value
}

/** Runs a command as a runtime does: by a shell, with the hook's input. */
const run = (command: string, PATH: string, input = '{"a": 1}') => {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], { env: { PATH }, input, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const SILENT = { status: 0, stdout: '', stderr: '' }

describe('the command of a hook', () => {
  it('is run by the Node that installed it, without one on the PATH', () => {
    const { bin, script } = place()
    const { launcher } = programOf(script)
    expect(run(`${launcher} hook stop --data-dir '/a b'`, bin)).toEqual({
      ...SILENT,
      stdout: 'ours|hook|stop|--data-dir|/a b|{"a": 1}',
    })
    expect(run(`${launcher} hook stop`, '').stdout).toContain('ours|hook|stop')
  })

  it('is run by a Node on the PATH where that one has gone, and by nothing where there is none', () => {
    const { home, bin, script } = place()
    const launcher = programOf(script).launcher.replace(process.execPath, '/gone/node')
    expect(run(`${launcher} hook stop`, bin)).toEqual(SILENT)
    symlinkSync(process.execPath, join(bin, 'node'))
    expect(run(`${launcher} hook stop`, bin).stdout).toBe('ours|hook|stop|{"a": 1}')
    // The package has moved: the name leads to it.
    rmSync(script)
    expect(run(`${launcher} hook stop`, bin)).toEqual(SILENT)
    put(join(home, 'bare bin', 'baton'), '#!/bin/sh\necho "found $*"\n', 0o755)
    expect(run(`${launcher} hook stop`, bin)).toEqual({ ...SILENT, stdout: 'found hook stop\n' })
  })

  it('draws the person’s own status line though nothing of ours is there', () => {
    const { bin, script } = place()
    const { launcher } = programOf(script)
    const line = `${launcher} hook statusline --data-dir /d --then 'echo "it'\\''s mine: $(cat)"'`
    expect(run(line, bin).stdout).toContain('ours|hook|statusline')
    rmSync(script)
    expect(run(line, bin)).toEqual({ ...SILENT, stdout: 'it\'s mine: {"a": 1}\n' })
    expect(run(`${launcher} hook statusline`, bin)).toEqual(SILENT)
  })

  it('in settings that others share names no path, and is silent for those who have no baton', () => {
    const { home, bin, script } = place()
    const path = join(home, 'with baton')
    put(join(path, 'baton'), '#!/bin/sh\n# batonpass\necho "found $*"\n', 0o755)
    const { shared, launcher } = programOf(script, path)
    expect(launcher).toContain(script.replace("'", "'\\''"))
    const command = `${shared?.launcher} hook stop`
    expect(command).not.toContain(home)
    expect(run(command, bin)).toEqual(SILENT)
    symlinkSync(process.execPath, join(bin, 'node'))
    expect(run(command, `${bin}:${path}`).stdout).toBe('found hook stop\n')
  })

  it('never runs a file of the folder in which the session works', () => {
    const { home, bin, script } = place()
    const path = join(home, 'with baton')
    put(join(path, 'baton'), '#!/bin/sh\n# batonpass\n', 0o755)
    symlinkSync(process.execPath, join(bin, 'node'))
    for (const name of ['baton', 'hook', 'node', 'stop']) {
      put(join(home, 'work', name), '#!/bin/sh\necho theirs\n', 0o755)
      chmodSync(join(home, 'work', name), 0o755)
    }
    const { shared } = programOf(script, path)
    const done = spawnSync('/bin/sh', ['-c', `${shared?.launcher} hook stop`], {
      cwd: join(home, 'work'),
      env: { PATH: bin },
      input: '',
      encoding: 'utf8',
    })
    expect([done.status, done.stdout]).toEqual([0, ''])
  })

  it('is known again, with its program apart, and a person’s own shell is not taken for it', () => {
    const { script } = place()
    const { launcher } = programOf(script)
    expect(ownHookIn(`${launcher} hook statusline --then 'a; b'`)).toEqual({
      program: launcher,
      event: 'statusline',
      rest: " --then 'a; b'",
      isMixed: false,
    })
    expect(ownHookIn(`${launcher} hook stop && say done`)?.isMixed).toBe(true)
    expect(ownHookIn(`say done; ${launcher} hook stop`)?.isMixed).toBe(true)
    expect(ownHookIn(`/bin/sh -c 'say done; exec "$@"' x baton hook stop`)?.isMixed).toBe(true)
  })

  it('starts the server the same way, without a shell around it', () => {
    const { bin, script } = place()
    const { command, args } = programOf(script).start
    const done = spawnSync(command, [...args, 'mcp'], { env: { PATH: bin }, input: 'x', encoding: 'utf8' })
    expect(done.stdout).toBe('ours|mcp|x')
  })
})

describe('the file that is named', () => {
  it('is the one that baton on the PATH leads to, if it can be read off', () => {
    const { home, script } = place()
    const own = put(join(home, 'lib', 'node_modules', 'batonpass', 'dist', 'adapters', 'cli', 'main.js'), '')
    put(join(home, 'lib', 'node_modules', 'batonpass', 'package.json'), '{"name": "batonpass"}')
    chmodSync(own, 0o755)
    mkdirSync(join(home, 'bin'))
    symlinkSync(own, join(home, 'bin', 'baton'))
    const { words, launcher } = programOf(script, join(home, 'bin'))
    expect(words).toBe('baton')
    expect(launcher).toContain(own)
    // A copy of npx is not named where another is on the PATH.
    const cached = put(join(home, '_npx', '1', 'cli', 'main.js'), '')
    put(join(home, 'shim', 'baton'), '#!/bin/sh\n# batonpass\n', 0o755)
    expect(programOf(cached, join(home, 'shim')).launcher).not.toContain('_npx')
    expect(programOf(cached).remarks).toEqual([expect.stringContaining('npx')])
  })
})
