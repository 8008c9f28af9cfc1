import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Packs the package as it would be published and asks two tools whether people can import it: `publint` reads the manifest and
 * the files that it names, `attw` resolves the types of every sub-path as TypeScript does. Build first.
 */
const folder = mkdtempSync(join(tmpdir(), 'batonpass-package-'))
try {
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }]
  const tarball = join(folder, filename)
  const show = (command: string, ...args: readonly string[]): void => {
    execFileSync('npx', ['--no-install', command, ...args], { stdio: 'inherit' })
  }
  show('publint', 'run', tarball, '--strict')
  // The package is ESM alone: how old CommonJS resolvers would find it is no question.
  show('attw', tarball, '--profile', 'esm-only', '--format', 'table-flipped')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
