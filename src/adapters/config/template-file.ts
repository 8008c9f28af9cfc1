import { dirname, resolve } from 'node:path'
import type { FoundProblem } from '../../domain/milestone-settings.ts'
import { fileText } from './file-text.ts'
import type { FileContent } from './schema.ts'

const PATH = ['restart', 'template_file'] as const

/** The text of the template that is named as a file, next to the configuration unless the name says otherwise. */
export const templateIn = async (
  { restart }: FileContent,
  configurationFile: string | undefined,
): Promise<{ readonly text?: string; readonly problem?: FoundProblem }> => {
  if (restart?.template_file == null) return {}
  const wrong = (problem: string, advice: string) => ({ problem: { path: PATH, problem, advice } })
  if (restart.template != null)
    return wrong('restart.template is there as well', 'Keep one of the two: the text, or the file it stands in.')
  const folder = configurationFile === undefined ? '.' : dirname(configurationFile)
  const file = resolve(folder, restart.template_file)
  const text = await fileText(file, 'text')
  if (typeof text !== 'string') return wrong(`${file}: ${text.problem}`, text.advice)
  return text.trim() === '' ? wrong(`${file} is empty`, 'Write the question in it, or leave the key out.') : { text }
}
