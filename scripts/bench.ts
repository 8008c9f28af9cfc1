import { spawnSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'

/** Compiles library and benchmark as they are shipped and runs them: a loader that compiles on the way costs time. */
const OUT = '.bench'
rmSync(OUT, { recursive: true, force: true })
const compiled = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.bench.json'], { stdio: 'inherit' })
if (compiled.status !== 0) process.exit(compiled.status ?? 1)
for (const name of ['migrations', 'node_modules', 'package.json']) symlinkSync(resolve(name), `${OUT}/${name}`)
const run = spawnSync(process.execPath, [`${OUT}/bench/main.js`, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = run.status ?? 1
