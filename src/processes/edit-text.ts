import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Lets the person change a text in the editor of their own, in this terminal. The text is in a file for its owner only,
 * which is gone afterwards.
 *
 * @returns the text as the editor left it; undefined when the editor failed, and the text is as it was
 */
export const editText = async (
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> => {
  const editor = environment.VISUAL || environment.EDITOR || 'vi'
  const folder = mkdtempSync(join(tmpdir(), 'baton-summary-'))
  const file = join(folder, 'summary.md')
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // The variable may hold words beside the name of the program, as `code --wait` does.
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env: environment })
    const status = await new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(null))
      child.on('exit', resolve)
    })
    return status === 0 ? readFileSync(file, 'utf8') : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
